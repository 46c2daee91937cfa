"""The questions of a negotiation, one per feature; each changes the wording and returns what it found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from drift.answers import ApiKind, Outcome, Transport
from drift.said import said, together
from workers.probe.decode.body import BodyKind, read_body
from workers.probe.negotiate.conversation import (
    Conversation,
    answered,
    choices_in,
    evidence,
    refused,
    with_parameters,
)
from workers.probe.negotiate.findings import Capability, State
from workers.probe.negotiate.refusals import CAP_PARAMETERS, RENAMED

COUNT = "Count from 1 to 100, separated by commas."
VARY = "Write one short sentence about a random everyday object."
HELLO = "Say hello."
PROBE_SEED, OTHER_SEEDS = 20260101, (7, 1234567)
SCORE_STEPS = (20, 8, 5, 1)


async def find_cap(talk: Conversation) -> Capability:
    """Which parameter limits the answer. Some servers ignore the one they do not know, and write on."""
    names = [talk.target.cap_parameter, *(name for name in CAP_PARAMETERS if name != talk.target.cap_parameter)]
    if talk.target.kind is ApiKind.RESPONSES:
        names = [talk.target.cap_parameter]
    seen: list[str] = []
    for name in names:
        exchange, decoded = await talk.ask(COUNT, target=replace(talk.target, cap_parameter=name))
        if not answered(decoded):
            seen.append(f"{name}: {evidence(exchange, decoded)}")
            continue
        tokens = decoded.usage.completion_tokens
        cut = decoded.finish == "length" or tokens == talk.max_tokens
        if cut or (tokens is not None and tokens < talk.max_tokens):
            talk.target = replace(talk.target, cap_parameter=name)
            told = (
                said(
                    gettext_noop("{tokens} tokens, finish '{finish_reason}'"),
                    tokens=tokens,
                    finish_reason=decoded.finish_reason,
                )
                if tokens is not None
                else said(gettext_noop("finish 'length'"))
            )
            if cut:
                return Capability(
                    State.HONOURED,
                    name,
                    said(gettext_noop("asked for {max_tokens}, got {told}"), max_tokens=talk.max_tokens, told=told),
                )
            return Capability(
                State.UNKNOWN,
                name,
                said(gettext_noop("accepted; the answer ended by itself before the cap: {told}"), told=told),
            )
        seen.append(
            said(
                gettext_noop("{name}: asked for {max_tokens} tokens, got {tokens}"),
                name=name,
                max_tokens=talk.max_tokens,
                tokens=tokens if tokens is not None else "more",
            )
        )
    state = State.IGNORED if any("asked for" in line for line in seen) else State.UNKNOWN
    return Capability(state, talk.target.cap_parameter, together(seen))


async def find_temperature_and_seed(talk: Conversation) -> dict[str, Capability]:
    """Whether temperature 0 and a seed are accepted and change anything.

    Three answers with one seed at temperature 1, two with others, two at temperature 0. Where answers never
    vary, neither can be told.
    """
    cold = await talk.ask(VARY, {"temperature": 0})
    hot = {"temperature": 1.0}
    if not answered(cold[1]):
        state = State.REFUSED if refused(cold) else State.UNKNOWN
        temperature = Capability(state, "0", evidence(*cold))
        hot = {}
    else:
        temperature = Capability(State.UNKNOWN, "0", "accepted")
    seed, varies = await _find_seed(talk, "seed", hot)
    if seed.state is State.REFUSED and talk.target.kind is ApiKind.CHAT:
        # A server may swallow any unknown field, so another name counts only where it has an effect.
        renamed, _ = await _find_seed(talk, RENAMED["seed"], hot)
        seed = renamed if renamed.state is State.HONOURED else seed
    if temperature.evidence == "accepted":
        again = await talk.texts(VARY, 1, {"temperature": 0})
        temperature = _effect_of_temperature([cold[1].compared, *(again or [])], varies)
    return {"temperature": temperature, "seed": seed}


async def _find_seed(talk: Conversation, name: str, hot: dict[str, float]) -> tuple[Capability, bool]:
    """(what the field `name` does, whether answers vary when it does not hold them)."""
    reply = await talk.ask(VARY, {**hot, name: PROBE_SEED})
    _, decoded = reply
    accepted = answered(decoded)
    free: list[str] = []
    for other in OTHER_SEEDS:
        free += await talk.texts(VARY, 1, {**hot, name: other} if accepted else hot) or []
    varies = len(set(free)) > 1
    if not accepted:
        return Capability(State.REFUSED if refused(reply) else State.UNKNOWN, "", evidence(*reply)), varies
    if decoded.seed_echo is not None and decoded.seed_echo != PROBE_SEED:
        told = said(
            gettext_noop("asked for seed {probe_seed}, the answer says {seed_echo}"),
            probe_seed=PROBE_SEED,
            seed_echo=decoded.seed_echo,
        )
        return Capability(State.IGNORED, name, told), varies
    more = await talk.texts(VARY, 2, {**hot, name: PROBE_SEED})
    if more is None or not decoded.compared:
        return Capability(
            State.UNKNOWN, name, said(gettext_noop("accepted; whether it has an effect could not be told"))
        ), varies
    same, other_answers = {decoded.compared, *more}, set(free) | {decoded.compared}
    if len(other_answers) < 2:
        told = said(gettext_noop("accepted; answers did not vary with other seeds either"))
        return Capability(State.UNKNOWN, name, told), varies
    if len(same) == 1:
        told = said(
            gettext_noop("3 of 3 equal with one seed, {other_answers} of 3 distinct with others"),
            other_answers=len(other_answers),
        )
        return Capability(State.HONOURED, name, told), varies
    if len(same) == 3:
        return Capability(
            State.IGNORED, name, said(gettext_noop("three answers with the same seed all differed"))
        ), varies
    return Capability(
        State.UNKNOWN, name, said(gettext_noop("accepted; 2 of 3 answers with the same seed agreed"))
    ), varies


def _effect_of_temperature(cold: list[str], varies: bool) -> Capability:
    if not varies or len(cold) < 2 or not all(cold):
        return Capability(
            State.UNKNOWN, "0", said(gettext_noop("accepted; whether it has an effect could not be told"))
        )
    if len(set(cold)) == 1:
        return Capability(State.HONOURED, "0", said(gettext_noop("answers vary at temperature 1 and agreed at 0")))
    return Capability(State.UNKNOWN, "0", said(gettext_noop("accepted, but two answers at temperature 0 differ")))


async def find_scores(talk: Conversation) -> Capability:
    """Whether per-token scores come, and the largest number of alternatives."""
    seen: list[str] = []
    steps: list[dict[str, Any]] = [_score_parameters(talk, k) for k in SCORE_STEPS]
    if talk.target.kind is ApiKind.CHAT:
        steps += [{"logprobs": True}, {"logprobs": 1}]  # without alternatives; as the count that Together expects
    for step in steps:
        exchange, decoded = await talk.ask(HELLO, step)
        k = step.get("top_logprobs", step.get("logprobs", 0))
        if not answered(decoded):
            seen.append(f"{k}: {evidence(exchange, decoded)}")
            if exchange.status == 500 or refused((exchange, decoded)):
                continue
            return Capability(State.UNKNOWN, "", together(seen))
        if decoded.tokens:
            given = max(len(token.top) for token in decoded.tokens)
            note = said(gettext_noop("; every chosen token scores exactly 0")) if decoded.degenerate_logprobs else ""
            value = min(given, k) if isinstance(k, int) and k is not True else given
            shape = decoded.logprob_shape
            return Capability(
                State.HONOURED,
                str(value),
                said(
                    gettext_noop("asked for {k}, got {given} in shape '{shape}'{note}"),
                    k=k,
                    given=given,
                    shape=shape,
                    note=note,
                ),
            )
        if decoded.outcome is Outcome.REASONING_ONLY:
            return Capability(
                State.UNKNOWN, str(int(k)), said(gettext_noop("asked for {k}; the answer had no text to score"), k=k)
            )
        if decoded.logprob_shape == "unknown":
            return Capability(State.UNKNOWN, "", said(gettext_noop("scores come in a shape that is not known")))
        return Capability(State.IGNORED, "", said(gettext_noop("asked for {k}, got none"), k=k))
    return Capability(State.REFUSED, "", together(seen))


def _score_parameters(talk: Conversation, k: int) -> dict[str, Any]:
    if talk.target.kind is ApiKind.RESPONSES:
        return {"include": ["message.output_text.logprobs"], "top_logprobs": k}
    return {"logprobs": True, "top_logprobs": k}


async def find_stream(talk: Conversation) -> Capability:
    """Whether answers can also travel as a stream; for a streaming target, whether usage can be had."""
    if talk.target.transport is Transport.STREAM:
        exchange, decoded = await talk.ask(HELLO)
    else:
        exchange, decoded = await talk.ask(HELLO, target=replace(talk.target, transport=Transport.STREAM))
    if not answered(decoded):
        return Capability(
            State.REFUSED if refused((exchange, decoded)) else State.UNKNOWN, "", evidence(exchange, decoded)
        )
    if read_body(exchange.body).kind is not BodyKind.EVENTS:
        return Capability(State.IGNORED, "", said(gettext_noop("asked for a stream, got the answer in one piece")))
    if talk.target.transport is Transport.STREAM and talk.target.kind is ApiKind.CHAT:
        wish = {"stream_options": {"include_usage": True}}
        counted = (await talk.ask(HELLO, wish))[1]
        if answered(counted) and counted.usage.completion_tokens is not None:
            talk.target = with_parameters(talk.target, wish)
    return Capability(State.HONOURED, "", evidence(exchange, decoded))


async def find_choices(talk: Conversation) -> Capability:
    """Whether several choices can be had in one request."""
    if talk.target.kind is ApiKind.RESPONSES or talk.target.transport is Transport.STREAM:
        return Capability(State.UNKNOWN, "", said(gettext_noop("not asked in this way of answering")))
    exchange, decoded = await talk.ask(HELLO, {"n": 2})
    if not answered(decoded):
        return Capability(
            State.REFUSED if refused((exchange, decoded)) else State.UNKNOWN, "", evidence(exchange, decoded)
        )
    count = choices_in(exchange)
    return Capability(
        State.HONOURED if count == 2 else State.IGNORED,
        str(count),
        said(gettext_noop("asked for 2 choices, got {count}"), count=count),
    )


async def bypass_cache(talk: Conversation) -> Capability:
    """LiteLLM's own way of not answering from its cache, kept where it is accepted."""
    wish = {"cache": {"no-cache": True}}
    reply = await talk.ask(HELLO, wish)
    if not answered(reply[1]):
        return Capability(State.REFUSED if refused(reply) else State.UNKNOWN, "", evidence(*reply))
    talk.target = with_parameters(talk.target, wish)
    return Capability(
        State.UNKNOWN, "no-cache", said(gettext_noop("accepted; whether it has an effect shows in the answers"))
    )
