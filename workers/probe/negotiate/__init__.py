"""Finds out what an endpoint accepts and does, by asking it: no table of providers is believed.

Each feature ends as refused, ignored, honoured or unknown, with what was seen. The target that comes back
asks for what was wished, less what is refused.
"""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext_noop

from drift.addresses import AddressRule
from drift.answers import ApiKind, FingerprintState, Outcome, Target
from drift.said import said
from workers.probe.client import Prober
from workers.probe.decode import decode
from workers.probe.negotiate.advice import advise, is_litellm
from workers.probe.negotiate.conversation import Conversation, Reply, answered, refused, with_parameters
from workers.probe.negotiate.features import (
    HELLO,
    bypass_cache,
    find_cap,
    find_choices,
    find_scores,
    find_stream,
    find_temperature_and_seed,
)
from workers.probe.negotiate.findings import Capability, Negotiation, State
from workers.probe.negotiate.problems import explain
from workers.probe.negotiate.refusals import adjusted, without

__all__ = ["Capability", "Negotiation", "State", "negotiate"]

MOST_ADJUSTMENTS = 8
NOT_ASKED = Capability(State.UNKNOWN, "", gettext_noop("not asked: this endpoint answers too slowly"))

_NEGOTIATED = (
    *("temperature", "seed", "random_seed", "logprobs", "top_logprobs", "include"),
    *("n", "stream_options", "cache"),
)
_UNANSWERED = frozenset({Outcome.UNREACHABLE, Outcome.REFUSED_ADDRESS})


async def negotiate(target: Target, *, allow: AddressRule) -> Negotiation:
    """Talks to `target` and returns how it can be asked, or the problem that a person has to solve first."""
    async with Prober(target, allow=allow) as prober:
        talk = Conversation(prober)
        exchange, models = await talk.models()
        if exchange.transport_error in _UNANSWERED:
            unreachable = explain(exchange, decode(exchange), target, ())
            return Negotiation(target, problem=unreachable, requests=talk.requests)
        if target.kind is ApiKind.RESPONSES:
            talk.target = replace(target, cap_parameter="max_output_tokens")
        talk.target = without(talk.target, *_NEGOTIATED)
        capabilities: dict[str, Capability] = {}
        reply = await _agree(talk, capabilities)
        if not answered(reply[1]):
            return Negotiation(target, {}, models, explain(*reply, target, models), requests=talk.requests)
        capabilities |= await _features(talk, reply)
        _wish(talk, target, capabilities)
        final = await _agree(talk, capabilities)
        problem = None if answered(final[1]) else explain(*final, target, models)
        reply = final if problem is None else reply
        return Negotiation(talk.target, capabilities, models, problem, advise(target, *reply, models), talk.requests)


async def _agree(talk: Conversation, capabilities: dict[str, Capability]) -> Reply:
    """Asks, rewording what is refused, until an answer comes or nothing is left to change."""
    reply = await talk.ask(HELLO)
    for _ in range(MOST_ADJUSTMENTS):
        if not refused(reply):
            break
        change = adjusted(talk.target, reply[0])
        if change is None:
            break
        talk.target, field = change
        if field != "stream":
            told = reply[1].error_message[:200]
            capabilities[field] = Capability(
                State.REFUSED, "", said(gettext_noop("status {status}: {told}"), status=reply[0].status, told=told)
            )
        reply = await talk.ask(HELLO)
    return reply


async def _features(talk: Conversation, first: Reply) -> dict[str, Capability]:
    found = {"cap": await find_cap(talk)}
    if talk.has_time:
        found["logprobs"] = await find_scores(talk)
    if talk.has_time:
        found |= await find_temperature_and_seed(talk)
    if talk.has_time:
        found["stream"] = await find_stream(talk)
    if talk.has_time:
        found["n"] = await find_choices(talk)
    if is_litellm(first[0]):
        found["cache bypass"] = await bypass_cache(talk)
    for name in ("temperature", "seed", "logprobs", "stream", "n"):
        found.setdefault(name, NOT_ASKED)
    identity = first[1].identity
    given = identity.fingerprint_state is FingerprintState.VALUE
    shown = identity.fingerprint or identity.fingerprint_state.value
    found["system_fingerprint"] = Capability(
        State.HONOURED if given else State.IGNORED, shown[:80], said(gettext_noop("as first seen"))
    )
    return found


def _wish(talk: Conversation, target: Target, found: dict[str, Capability]) -> None:
    """Puts the wished parameters back that are not refused, as many scores as are given."""
    wished = dict(target.parameters)
    if "temperature" in wished and found["temperature"].state is not State.REFUSED:
        talk.target = with_parameters(talk.target, {"temperature": wished["temperature"]})
    seed = wished.get("seed", wished.get("random_seed"))
    if seed is not None and found["seed"].state is not State.REFUSED:
        talk.target = with_parameters(talk.target, {found["seed"].value or "seed": seed})
    scores = found["logprobs"]
    if scores == NOT_ASKED:
        kept = ("logprobs", "top_logprobs", "include")
        talk.target = with_parameters(talk.target, {name: wished[name] for name in kept if name in wished})
    elif wished.get("logprobs") or wished.get("top_logprobs"):
        talk.target = with_parameters(talk.target, _scores(wished.get("top_logprobs"), scores, talk.target.kind))


def _scores(wished: object, scores: Capability, kind: ApiKind) -> dict[str, object]:
    if not scores.value:
        return {}
    most = int(scores.value)
    k = min(wished, most) if isinstance(wished, int) and not isinstance(wished, bool) else most
    if kind is ApiKind.RESPONSES:
        return {"include": ["message.output_text.logprobs"], "top_logprobs": k}
    if "shape 'legacy'" in scores.evidence:
        return {"logprobs": max(k, 1)}
    return {"logprobs": True, "top_logprobs": k} if k else {"logprobs": True}
