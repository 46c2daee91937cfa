"""How a request wants its tokens chosen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """Defaults are those of the OpenAI API, except that the seed is always known.

    ``logprobs`` is None for none, else the number of alternatives per token (0: the chosen token only).
    ``score_prompt`` asks for the logprobs of the prompt's own tokens.
    """

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    score_prompt: bool = False
    ignore_end: bool = False
