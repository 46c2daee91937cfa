"""Findings as sentences: what changed, since when, how sure, what it voids."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from drift import figures
from drift.findings.kinds import Kind
from drift.findings.names import Name


def sentence(kind: str, began: datetime, facts: Mapping[str, Any]) -> str:
    """One finding in one or two plain sentences, with UTC times."""
    words = _WORDS[Kind(kind)]
    text: str = words(at(began), facts)
    return text


def at(moment: datetime) -> str:
    """'29 Nov 14:05 UTC'."""
    there = moment.astimezone(UTC)
    return f"{there.day} {there:%b %H:%M} UTC"


def sureness(chance: float | None) -> str:
    """'Chance of a false alarm under 1 in 1,000.'; '' where it is no matter of chance."""
    if chance is None:
        return ""
    if chance >= 0.5:
        return "It could still be chance."
    odds = 10 ** min(9, len(str(int(1 / max(chance, 1e-12)))) - 1)
    return f"Chance of a false alarm under 1 in {figures.count(odds)}."


def label(key: str | None) -> str:
    """A name's short form: its fingerprint, or the route or model where it gives none."""
    if not key:
        return "nothing"
    name = Name.read(key)
    return name.label


def labels(keys: Any, most: int = 3) -> str:
    shown = [label(key) for key in list(keys)[:most]]
    more = len(keys) - len(shown)
    return ", ".join(dict.fromkeys(shown)) + (f" and {more} more" if more > 0 else "")


def _new_identity(since: str, facts: Mapping[str, Any]) -> str:
    new = labels(facts.get("new", ()))
    if facts.get("taken_over"):
        return f"Since {since} every answer carries {new}; before it was {labels(facts.get('old', ()))}."
    share = facts.get("answers_new", 0) / max(1, facts.get("answers", 1))
    return f"Since {since} {figures.percent(share)} of answers carry {new}, never seen before."


def _echo(since: str, facts: Mapping[str, Any]) -> str:
    new = [Name.read(key).model_echo for key in facts.get("new", ())][:1]
    old = [Name.read(key).model_echo for key in facts.get("old", ())][:1]
    return f"Since {since} answers say they come from {new[0] if new else '?'}; before it was {old[0] if old else '?'}."


def _routing(since: str, facts: Mapping[str, Any]) -> str:
    new = [Name.read(key).upstream or "no named provider" for key in facts.get("new", ())][:1]
    old = [Name.read(key).upstream or "no named provider" for key in facts.get("old", ())][:1]
    return f"Since {since} requests are routed to {new[0] if new else '?'}; before it was {old[0] if old else '?'}."


def _moved(since: str, facts: Mapping[str, Any]) -> str:
    before, after = facts.get("before"), facts.get("after")
    parts = ["Answers moved with it" if not facts.get("formatting") else "Only white space moved with it"]
    if before is not None and after is not None:
        parts[0] += f": difference from the baseline {figures.percent(before)} → {figures.percent(after)}"
    return _with_token(parts[0] + ".", facts)


def _with_token(text: str, facts: Mapping[str, Any]) -> str:
    token = facts.get("token")
    if token is None:
        return text
    word = figures.token_word(2, bool(facts.get("tokens_known")))[:-1]
    return f"{text} First difference at {word} {token + 1}."


def _silent(since: str, facts: Mapping[str, Any]) -> str:
    before, after = facts.get("before"), facts.get("after")
    text = f"Answers differ from the baseline since about {since}, and no fingerprint says why"
    if before is not None and after is not None:
        text += f": {figures.percent(before)} → {figures.percent(after)} of answers depart"
    moved = facts.get("canaries_moved")
    if moved is not None and facts.get("canaries"):
        text += f", {moved} of {facts['canaries']} canaries"
    return _with_token(text + ".", facts)


def _cosmetic(since: str, facts: Mapping[str, Any]) -> str:
    text = "The answers did not move with it"
    if facts.get("effect_high") is not None:
        text += f"; a difference of {figures.percent(max(0.0, facts['effect_high']))} or more would have been seen"
    return text + "."


def _vanished(since: str, facts: Mapping[str, Any]) -> str:
    runs = figures.plural(facts.get("runs", 0), "run")
    return f"{labels(facts.get('old', ()))} is gone: not in any of the last {runs}. The other names are still there."


def _mix(since: str, facts: Mapping[str, Any]) -> str:
    before, now = figures.percent(facts.get("before")), figures.percent(facts.get("now"))
    return f"Since {since} the known identities are mixed otherwise: {label(facts.get('main'))} {before} → {now}."


def _key(since: str, facts: Mapping[str, Any]) -> str:
    return (
        f"Since {since} the fingerprint reads {labels(facts.get('new', ()))} where it was "
        f"{labels(facts.get('old', ()))}: the server's manners changed, which says nothing about the model."
    )


def _prompt(since: str, facts: Mapping[str, Any]) -> str:
    return (
        f"Since {since} the same prompt counts {facts.get('new')} tokens, not {facts.get('old')} "
        f"({facts.get('canaries')} of {facts.get('asked')} canaries): the template or the tokeniser changed."
    )


def _down(since: str, facts: Mapping[str, Any]) -> str:
    why = facts.get("why") or "no reason given"
    return f"No usable answer since {since}: {why.rstrip('.')}."


def _words(text: str) -> Any:
    def say(since: str, facts: Mapping[str, Any]) -> str:
        return text.format(
            since=since,
            **{
                name: facts.get(name, "")
                for name in ("why", "what", "was", "old", "new", "cached", "answers", "down_for")
            },
        )

    return say


_WORDS: dict[Kind, Any] = {
    Kind.IDENTITY_SEEN: lambda since, f: (
        f"{labels(f.get('new', ()))} was seen for the first time at {since}. Asking again before concluding anything."
    ),
    Kind.NEW_IDENTITY: _new_identity,
    Kind.IDENTITY_RETURNED: lambda since, f: (
        f"Since {since} {labels(f.get('new', ()))} answers again, as it did before."
    ),
    Kind.MODEL_ECHO: _echo,
    Kind.ROUTING: _routing,
    Kind.BEHAVIOURAL: _moved,
    Kind.COSMETIC: _cosmetic,
    Kind.MIX_SHIFT: _mix,
    Kind.VANISHED: _vanished,
    Kind.FINGERPRINT_KEY: _key,
    Kind.PROMPT_TOKENS: _prompt,
    Kind.REQUEST_CHANGED: _words("Since {since} we ask otherwise ({what}): figures begin a new series."),
    Kind.CAPABILITY: _words("Since {since} {what} is {new}; before it was {old}."),
    Kind.SILENT_CHANGE: _silent,
    Kind.FORMATTING: lambda since, f: f"Since about {since} answers differ in white space, and in nothing else.",
    Kind.LOGPROBS: lambda since, f: (
        f"Log probabilities of first tokens moved since about {since}: {f.get('after', 0):.2f} nats from the baseline, "
        f"where up to {f.get('before', 0):.2f} was usual. The answers have not moved so far."
    ),
    Kind.CACHED: _words(
        "Since {since} {cached} of {answers} answers come from a cache ({why}): they say nothing about the model."
    ),
    Kind.UNCACHED: _words("Answers are fresh again."),
    Kind.OUTAGE: _down,
    Kind.RETIRED: lambda since, f: (
        f"Since {since} the provider says that there is no such model: {f.get('why') or 'model not found'}."
    ),
    Kind.RECOVERY: _words("It answers again, after {down_for}."),
    Kind.NO_DATA: _words("No run has finished since {since}: {why}."),
    Kind.DATA_AGAIN: _words("Runs finish again."),
}
