"""One request about to be answered, and what the pretend model says to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workers.simulate.conditions import fingerprint_of, flip_rate_at, version_at
from workers.simulate.draws import hexadecimal
from workers.simulate.language import write
from workers.simulate.reply import Reply, chunks, completion, response_events, response_object
from workers.simulate.request import Request, cap_of, prompt_of, scores_wanted
from workers.simulate.scenario import MARK, Scenario
from workers.simulate.wire import Wire, events, whole


@dataclass(frozen=True)
class Draft:
    """One request about to be answered: what a trap needs to bend the answer its own way."""

    scenario: Scenario
    request: Request
    fields: dict[str, Any]
    unix_s: float
    elapsed_s: float
    index: int

    @cached_property
    def reply(self) -> Reply:
        """The answer as the pretend model gives it, before any provider's dialect."""
        return _reply_to(self)

    @property
    def streams(self) -> bool:
        return bool(self.fields.get("stream"))

    @property
    def pause_s(self) -> float:
        return self.scenario.latency_ms / 1000

    def plain(self, **changes: Any) -> Wire:
        """The ordinary answer in the ordinary form; `changes` replace top-level keys of a whole one."""
        step_s = self.scenario.token_ms / 1000
        is_response = self.request.route.endswith("/responses")
        if self.streams:
            parts = response_events(self.reply) if is_response else chunks(self.reply)
            return events(parts, done=not is_response, pause_s=step_s, first_pause_s=self.pause_s)
        pause_s = self.pause_s + step_s * len(self.reply.written.tokens)
        if is_response:
            return whole({**response_object(self.reply), **changes}, pause_s=pause_s)
        return whole(completion(self.reply, **changes), pause_s=pause_s)


def _reply_to(draft: Draft) -> Reply:
    """What the pretend model says to `draft`."""
    scenario, fields = draft.scenario, draft.fields
    version = version_at(scenario, draft.elapsed_s, draft.index)
    has_fingerprint, fingerprint = fingerprint_of(scenario, version, draft.index)
    prompt = prompt_of(fields)
    temperature = fields.get("temperature", 1.0)
    temperature = float(temperature) if isinstance(temperature, int | float) else 1.0
    seed = fields.get(scenario.support.seed_field)
    # A seed fixes the dice of sampling. Near-ties fall by the batch, which no seed controls.
    dice = f"seed {seed}" if seed is not None else f"request {draft.index}"
    wanted = scores_wanted(fields)
    written = write(
        scenario,
        version,
        prompt,
        max_tokens=cap_of(fields),
        flip_rate=flip_rate_at(scenario, version, draft.unix_s),
        temperature=temperature,
        chance=f"{scenario.seed}/{draft.index}",
        heat=f"{scenario.seed}/{dice}",
        alternatives=min(wanted or 0, scenario.support.most_scores),
    )
    echo = version.model_echo or scenario.model
    return Reply(
        id=f"chatcmpl-{hexadecimal(24, scenario.seed, scenario.name, draft.index)}",
        created=int(draft.unix_s),
        model=echo if echo.startswith(MARK) else MARK + echo,
        has_fingerprint=has_fingerprint,
        fingerprint=fingerprint,
        written=written,
        prompt_tokens=len(prompt.split()) + version.template_tokens,
        scored=wanted is not None,
        choices=fields["n"] if isinstance(fields.get("n"), int) else 1,
    )
