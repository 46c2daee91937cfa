"""Findings as sentences: what changed, since when, how sure, what it voids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext

from drift import figures
from drift.findings.kinds import Kind
from drift.findings.names import Name
from drift.said import from_facts


def sentence(kind: str, began: datetime, facts: Mapping[str, Any]) -> str:
    """One finding in one or two plain sentences, with UTC times."""
    return _WORDS[Kind(kind)](at(began), facts)


def at(moment: datetime) -> str:
    """'29 Nov 14:05 UTC'."""
    return f"{figures.day_time(moment.astimezone(UTC))} UTC"


def sureness(chance: float | None) -> str:
    """'Chance of a false alarm under 1 in 1,000.'; '' where it is no matter of chance."""
    if chance is None:
        return ""
    if chance >= 0.5:
        return gettext("It could still be chance.")
    odds = 10 ** min(9, len(str(int(1 / max(chance, 1e-12)))) - 1)
    return gettext("Chance of a false alarm under 1 in {odds}.").format(odds=figures.count(odds))


def label(key: str | None) -> str:
    """A name's short form: its fingerprint, or the route or model where it gives none."""
    if not key:
        return gettext("nothing")
    name = Name.read(key)
    return name.label


def labels(keys: Any, most: int = 3) -> str:
    shown = [label(key) for key in list(keys)[:most]]
    more = len(keys) - len(shown)
    names = figures.listed(dict.fromkeys(shown))
    return gettext("{names} and {number} more").format(names=names, number=more) if more > 0 else names


def _why(facts: Mapping[str, Any]) -> str:
    """A reason among the facts: what is said by us in the reader's language, what a provider said as it stands."""
    value = from_facts(facts.get("why") or "")
    return gettext(value) if value else ""


def _new_identity(since: str, facts: Mapping[str, Any]) -> str:
    new = labels(facts.get("new", ()))
    if facts.get("taken_over"):
        return gettext("Since {since} every answer carries {new}; before it was {old}.").format(
            since=since, new=new, old=labels(facts.get("old", ()))
        )
    share = facts.get("answers_new", 0) / max(1, facts.get("answers", 1))
    return gettext("Since {since} {share} of answers carry {new}, never seen before.").format(
        since=since, share=figures.percent(share), new=new
    )


def _echo(since: str, facts: Mapping[str, Any]) -> str:
    new = [Name.read(key).model_echo for key in facts.get("new", ())][:1]
    old = [Name.read(key).model_echo for key in facts.get("old", ())][:1]
    return gettext("Since {since} answers say they come from {new}; before it was {old}.").format(
        since=since, new=new[0] if new else "?", old=old[0] if old else "?"
    )


def _routing(since: str, facts: Mapping[str, Any]) -> str:
    nobody = gettext("no named provider")
    new = [Name.read(key).upstream or nobody for key in facts.get("new", ())][:1]
    old = [Name.read(key).upstream or nobody for key in facts.get("old", ())][:1]
    return gettext("Since {since} requests are routed to {new}; before it was {old}.").format(
        since=since, new=new[0] if new else "?", old=old[0] if old else "?"
    )


def _moved(since: str, facts: Mapping[str, Any]) -> str:
    before, after = facts.get("before"), facts.get("after")
    formatting = bool(facts.get("formatting"))
    if before is None or after is None:
        text = gettext("Only white space moved with it.") if formatting else gettext("Answers moved with it.")
        return _with_token(text, facts)
    text = (
        gettext("Only white space moved with it: difference from the baseline {before} → {after}.")
        if formatting
        else gettext("Answers moved with it: difference from the baseline {before} → {after}.")
    )
    return _with_token(text.format(before=figures.percent(before), after=figures.percent(after)), facts)


def _with_token(text: str, facts: Mapping[str, Any]) -> str:
    token = facts.get("token")
    if token is None:
        return text
    unit = figures.token_word(1, bool(facts.get("tokens_known")))
    return gettext("{text} First difference at {unit} {number}.").format(text=text, unit=unit, number=token + 1)


def _silent(since: str, facts: Mapping[str, Any]) -> str:
    before, after = facts.get("before"), facts.get("after")
    moved, canaries = facts.get("canaries_moved"), facts.get("canaries")
    departs = before is not None and after is not None
    among = moved is not None and bool(canaries)
    if departs and among:
        text = gettext(
            "Answers differ from the baseline since about {since}, and no fingerprint says why: "
            "{before} → {after} of answers depart, {moved} of {canaries} canaries."
        )
    elif departs:
        text = gettext(
            "Answers differ from the baseline since about {since}, and no fingerprint says why: "
            "{before} → {after} of answers depart."
        )
    elif among:
        text = gettext(
            "Answers differ from the baseline since about {since}, and no fingerprint says why, "
            "{moved} of {canaries} canaries."
        )
    else:
        text = gettext("Answers differ from the baseline since about {since}, and no fingerprint says why.")
    said = text.format(
        since=since,
        before=figures.percent(before),
        after=figures.percent(after),
        moved=moved,
        canaries=canaries,
    )
    return _with_token(said, facts)


def _cosmetic(since: str, facts: Mapping[str, Any]) -> str:
    if facts.get("effect_high") is None:
        return gettext("The answers did not move with it.")
    return gettext("The answers did not move with it; a difference of {effect} or more would have been seen.").format(
        effect=figures.percent(max(0.0, facts["effect_high"]))
    )


def _vanished(since: str, facts: Mapping[str, Any]) -> str:
    runs = figures.plural(facts.get("runs", 0), "run")
    return gettext("{names} is gone: not in any of the last {runs}. The other names are still there.").format(
        names=labels(facts.get("old", ())), runs=runs
    )


def _mix(since: str, facts: Mapping[str, Any]) -> str:
    return gettext("Since {since} the known identities are mixed otherwise: {name} {before} → {now}.").format(
        since=since,
        name=label(facts.get("main")),
        before=figures.percent(facts.get("before")),
        now=figures.percent(facts.get("now")),
    )


def _key(since: str, facts: Mapping[str, Any]) -> str:
    return gettext(
        "Since {since} the fingerprint reads {new} where it was {old}: the server's manners changed, "
        "which says nothing about the model."
    ).format(since=since, new=labels(facts.get("new", ())), old=labels(facts.get("old", ())))


def _prompt(since: str, facts: Mapping[str, Any]) -> str:
    return gettext(
        "Since {since} the same prompt counts {new} tokens, not {old} ({canaries} of {asked} canaries): "
        "the template or the tokeniser changed."
    ).format(
        since=since,
        new=facts.get("new"),
        old=facts.get("old"),
        canaries=facts.get("canaries"),
        asked=facts.get("asked"),
    )


def _down(since: str, facts: Mapping[str, Any]) -> str:
    why = _why(facts) or gettext("no reason given")
    return gettext("No usable answer since {since}: {why}.").format(since=since, why=why.rstrip(".。"))


def _seen(since: str, facts: Mapping[str, Any]) -> str:
    return gettext("{names} was seen for the first time at {since}. Asking again before concluding anything.").format(
        names=labels(facts.get("new", ())), since=since
    )


def _returned(since: str, facts: Mapping[str, Any]) -> str:
    return gettext("Since {since} {names} answers again, as it did before.").format(
        since=since, names=labels(facts.get("new", ()))
    )


def _asked_otherwise(since: str, facts: Mapping[str, Any]) -> str:
    return gettext("Since {since} we ask otherwise ({what}): figures begin a new series.").format(
        since=since, what=facts.get("what") or gettext("another request")
    )


def _capability(since: str, facts: Mapping[str, Any]) -> str:
    return gettext("Since {since} {what} is {new}; before it was {old}.").format(
        since=since, what=facts.get("what", ""), new=_treated(facts.get("new", "")), old=_treated(facts.get("old", ""))
    )


def _treated(said: str) -> str:
    """'honoured 42': what was done in the reader's language, the value as it is."""
    state, _, value = said.partition(" ")
    return f"{figures.words(state)} {value}".strip()


def _logprobs(since: str, facts: Mapping[str, Any]) -> str:
    return gettext(
        "Log probabilities of first tokens moved since about {since}: {after} nats from the baseline, "
        "where up to {before} was usual. The answers have not moved so far."
    ).format(since=since, after=f"{facts.get('after', 0):.2f}", before=f"{facts.get('before', 0):.2f}")


def _cached(since: str, facts: Mapping[str, Any]) -> str:
    return gettext(
        "Since {since} {cached} of {answers} answers come from a cache ({why}): they say nothing about the model."
    ).format(since=since, cached=facts.get("cached", ""), answers=facts.get("answers", ""), why=_why(facts))


def _retired(since: str, facts: Mapping[str, Any]) -> str:
    return gettext("Since {since} the provider says that there is no such model: {why}.").format(
        since=since, why=_why(facts) or gettext("model not found")
    )


def _recovery(since: str, facts: Mapping[str, Any]) -> str:
    return gettext("It answers again, after {duration}.").format(duration=from_facts(facts.get("down_for", "")))


def _no_data(since: str, facts: Mapping[str, Any]) -> str:
    return gettext("No run has finished since {since}: {why}.").format(since=since, why=_why(facts))


_WORDS: dict[Kind, Callable[[str, Mapping[str, Any]], str]] = {
    Kind.IDENTITY_SEEN: _seen,
    Kind.NEW_IDENTITY: _new_identity,
    Kind.IDENTITY_RETURNED: _returned,
    Kind.MODEL_ECHO: _echo,
    Kind.ROUTING: _routing,
    Kind.BEHAVIOURAL: _moved,
    Kind.COSMETIC: _cosmetic,
    Kind.MIX_SHIFT: _mix,
    Kind.VANISHED: _vanished,
    Kind.FINGERPRINT_KEY: _key,
    Kind.PROMPT_TOKENS: _prompt,
    Kind.REQUEST_CHANGED: _asked_otherwise,
    Kind.CAPABILITY: _capability,
    Kind.SILENT_CHANGE: _silent,
    Kind.FORMATTING: lambda since, facts: gettext(
        "Since about {since} answers differ in white space, and in nothing else."
    ).format(since=since),
    Kind.LOGPROBS: _logprobs,
    Kind.CACHED: _cached,
    Kind.UNCACHED: lambda since, facts: gettext("Answers are fresh again."),
    Kind.OUTAGE: _down,
    Kind.RETIRED: _retired,
    Kind.RECOVERY: _recovery,
    Kind.NO_DATA: _no_data,
    Kind.DATA_AGAIN: lambda since, facts: gettext("Runs finish again."),
}
