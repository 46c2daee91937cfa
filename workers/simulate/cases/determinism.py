"""Traps around identity, routing, caches and what seeds and fingerprints promise."""

from __future__ import annotations

from dataclasses import replace

from workers.simulate.cases.trap import Trap
from workers.simulate.draft import Draft
from workers.simulate.refuse import refusal
from workers.simulate.reply import chunks, completion
from workers.simulate.scenario import MARK
from workers.simulate.wire import Wire, events, whole

UPSTREAMS = ("Alpha", "Beta")
RETIRED_AFTER_S = 7200.0


def fingerprint_on_the_last_chunk(draft: Draft) -> Wire:
    """vLLM: the fingerprint comes with the last chunks only; another model on the same host has none."""
    asked = str(draft.fields.get("model"))
    if asked != draft.scenario.model:
        return draft.plain(system_fingerprint=None, model=MARK + asked.removeprefix(MARK))
    return events(chunks(draft.reply, fingerprint_last=True)) if draft.streams else draft.plain()


def first_call_is_cold(draft: Draft) -> Wire:
    """The first call fills the prefix cache and is computed another way than all later ones."""
    if draft.index == 0:
        return _with_salt(draft, 99).plain()
    usage = {**draft.reply.usage, "prompt_tokens_details": {"cached_tokens": draft.reply.prompt_tokens - 1}}
    return draft.plain(usage=usage)


def routed(draft: Draft) -> Wire:
    """A router: another provider, with other arithmetic, behind every second call."""
    upstream = UPSTREAMS[draft.index % 2]
    return _with_salt(draft, draft.index % 2).plain(provider=upstream)


def retired(draft: Draft) -> Wire:
    """An alias that is pointed at a new model, then taken away."""
    if draft.elapsed_s >= RETIRED_AFTER_S:
        message = f"The model `{draft.scenario.model}` has been retired and does not exist any more."
        return refusal("openai", message, "model", status=400, code="model_not_found")
    return draft.plain()


def any_name_will_do(draft: Draft) -> Wire:
    """A local server that answers with what it has loaded, whatever is asked for."""
    return draft.plain(system_fingerprint=draft.scenario.model)


def fallback(draft: Draft) -> Wire:
    """A gateway that serves another deployment when the first fails; only its headers tell."""
    fell = draft.index % 3 == 2
    answer = completion((_with_salt(draft, 5) if fell else draft).reply)
    headers = [
        ("x-litellm-model-id", "deployment-b" if fell else "deployment-a"),
        ("x-litellm-attempted-fallbacks", "1" if fell else "0"),
    ]
    return whole(answer, headers=headers)


def from_cache(draft: Draft) -> Wire:
    """A gateway's cache that ignores every wish not to be used. Only every second hit says so in a header."""
    first = replace(draft, index=0, unix_s=draft.unix_s - draft.elapsed_s)
    headers = [("cf-aig-cache-status", "HIT")] if draft.index % 2 == 1 else []
    return whole(completion(first.reply), headers=headers)


def _with_salt(draft: Draft, salt: int) -> Draft:
    """The same request to a version whose texts are others."""
    scenario = draft.scenario
    phases = tuple(replace(phase, version=replace(phase.version, salt=salt)) for phase in scenario.phases)
    return replace(draft, scenario=replace(scenario, phases=phases))


DETERMINISM = {
    "b03": Trap(fingerprint_on_the_last_chunk, any_model=True),
    "b05": Trap(first_call_is_cold),
    "b06": Trap(routed),
    "b07": Trap(retired),
    "b10": Trap(any_name_will_do, any_model=True),
    "b11": Trap(fallback),
    "b12": Trap(from_cache),
}
