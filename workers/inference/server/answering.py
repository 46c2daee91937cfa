"""Running a request's sequences and following their progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from collections.abc import Sequence as Items
from dataclasses import dataclass, field
from typing import Any

from workers.inference.engine.loop import EngineLoop
from workers.inference.engine.sampling_params import SamplingParams
from workers.inference.engine.sequence import Progress, Sequence
from workers.inference.errors import InvalidRequestError, WorkerError
from workers.inference.model import Model
from workers.inference.text import TextStream


@dataclass(frozen=True, slots=True)
class Job:
    """One choice to compute: its prompt and its parameters."""

    prompt_ids: list[int]
    params: SamplingParams


@dataclass(slots=True)
class Choice:
    """One choice as far as it is known."""

    sequence: Sequence
    text: str = ""
    steps: list[Progress] = field(default_factory=list)
    finish_reason: str | None = None

    @property
    def spoken(self) -> list[Progress]:
        """Steps whose token belongs to the text: all but an end token."""
        ends = self.finish_reason == "stop" and not self.sequence.text.stopped
        return self.steps[:-1] if ends else self.steps


class Answering:
    """The choices of one request in flight. Leaving the iteration early cancels what is unfinished."""

    def __init__(self, model: Model, loop: EngineLoop, jobs: Items[Job]) -> None:
        self.model, self.loop = model, loop
        self._events: asyncio.Queue[tuple[int, Progress]] = asyncio.Queue()
        here = asyncio.get_running_loop()

        def listener(index: int) -> Any:
            return lambda progress: here.call_soon_threadsafe(self._events.put_nowait, (index, progress))

        self.choices = [
            Choice(Sequence(job.prompt_ids, job.params, TextStream(model.vocabulary, job.params.stop), listener(index)))
            for index, job in enumerate(jobs)
        ]
        loop.submit([choice.sequence for choice in self.choices])

    async def follow(self) -> AsyncIterator[tuple[int, Progress]]:
        """Progress of any choice, in the order it is made."""
        open_choices = len(self.choices)
        try:
            while open_choices:
                index, progress = await self._events.get()
                choice = self.choices[index]
                if progress.finish_reason == "error":
                    raise WorkerError("A step of the engine failed; the request was given up.")
                choice.text += progress.text
                if progress.token_id is not None:
                    choice.steps.append(progress)
                if progress.finish_reason is not None:
                    choice.finish_reason = progress.finish_reason
                    open_choices -= 1
                yield index, progress
        finally:
            for choice in self.choices:
                if choice.finish_reason is None:
                    self.loop.cancel(choice.sequence)

    async def complete(self) -> None:
        """Wait for all choices."""
        async for _ in self.follow():
            pass

    def usage(self, prompts: int) -> dict[str, Any]:
        """Token counts; ``prompts`` distinct prompts were asked, each counted once."""
        per_prompt = self.choices[:: max(len(self.choices) // prompts, 1)]
        prompt = sum(len(choice.sequence.prompt_ids) for choice in per_prompt)
        completion = sum(len(choice.steps) for choice in self.choices)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": sum(choice.sequence.cached_tokens for choice in per_prompt)},
        }

    def batches(self, mode: str) -> dict[str, Any]:
        """The worker's own object: how many sequences shared the step of each generated token."""
        sizes = [step.batch_size for choice in self.choices for step in choice.steps]
        return {"mode": mode, "batch_sizes": sizes}


def room_for(prompt_ids: list[int], wanted: int | None, context: int, parameter: str, prompt_field: str) -> int:
    """Tokens that may be generated after a prompt.

    Raises:
        InvalidRequestError: the prompt is empty, or it and the cap exceed the context.
    """
    if not prompt_ids:
        raise InvalidRequestError("The prompt is empty.", prompt_field)
    room = context - len(prompt_ids)
    if room < (1 if wanted is None else wanted):
        message = (
            f"The context holds {context} tokens; the prompt has {len(prompt_ids)} and {parameter} asks for "
            f"{wanted or 1} more."
        )
        raise InvalidRequestError(message, prompt_field if room < 1 else parameter, "context_length_exceeded")
    return room if wanted is None else wanted
