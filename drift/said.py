"""Sentences that are stored: the message and what fills it, said in the language of whoever reads.

A column keeps a record separator (RFC 7464) and {"text": message, "with": fillers}; what a person wrote, and what was
written before there were other languages, is kept as it stands. Messages are marked with `gettext_noop` where they are
written: `said(gettext_noop("{name} answers again."), name=endpoint.name)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import models
from django.utils.translation import gettext, gettext_noop, ngettext

from drift import figures
from drift.display import visible

MARK = "\x1e"


class Said(str):
    """A sentence in the language in which it was read or made; `stored` is what a column keeps of it."""

    stored: str

    def __deepcopy__(self, memo: object) -> Said:
        return self


@dataclass(frozen=True, slots=True)
class Counted:
    """'3 endpoints' as a filler: one of the words of `figures.plural`."""

    number: int
    word: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """'new identity, answers moved' as a filler."""

    items: tuple[Filler, ...]


@dataclass(frozen=True, slots=True)
class Dated:
    """'29 Nov 2026 14:05 UTC' as a filler; a bare time is '29 Nov 14:05 UTC'."""

    moment: datetime


@dataclass(frozen=True, slots=True)
class Found:
    """The sentence of a finding as a filler: see `drift.findings.words`."""

    kind: str
    began: datetime
    facts: Mapping[str, Any]


Filler = str | int | datetime | timedelta | Dated | Counted | Listed | Found


def said(text: str, **fillers: Filler | None) -> Said:
    """The message with its fillers. `text` must be marked with `gettext_noop` for translation."""
    return _heard({"text": text, "with": {name: _plain(value) for name, value in fillers.items()}})


def counted(one: str, many: str, number: int, **fillers: Filler) -> Said:
    """A message that has a singular, with `number` among its fillers."""
    given = {name: _plain(value) for name, value in fillers.items()}
    return _heard({"text": [one, many], "number": number, "with": {"number": number, **given}})


def found(kind: str, began: datetime, facts: Mapping[str, Any]) -> Said:
    """The sentence of a finding alone."""
    return said("{sentence}", sentence=Found(kind, began, facts))


def say(value: str) -> str:
    """The sentence in the language that is active now; a plain text is itself."""
    if isinstance(value, Said):
        return heard(value.stored)
    return value


def heard(stored: str) -> str:
    """What a column keeps, as a sentence in the language that is active now."""
    if not stored.startswith(MARK):
        return stored
    try:
        return _heard(json.loads(stored[1:]))
    except (ValueError, KeyError, TypeError):
        return stored[1:]


def cut(text: str, most: int) -> str:
    """A person's or a provider's text cut to `most` characters; what is said stays whole."""
    return text if isinstance(text, Said) else text[:most]


def together(reasons: Sequence[str]) -> str:
    """'one; another'."""
    if len(reasons) < 2:
        return reasons[0] if reasons else ""
    return said(gettext_noop("{one}; {others}"), one=reasons[0], others=together(reasons[1:]))


def shown(text: str, most: int) -> str:
    """As `cut`, without characters that cannot be stored."""
    return text if isinstance(text, Said) else visible(text)[:most]


def filler(value: str, name: str) -> str | None:
    """One filler of a stored sentence as it reads now; None where it is a plain text, or has none of that name."""
    if not isinstance(value, Said):
        return None
    kept = json.loads(value.stored[1:])["with"].get(name)
    return None if kept is None else _said_of(kept)


class SaidField(models.TextField):  # type: ignore[type-arg]
    """A text that keeps what is `said` and gives it back in the language that is active when the row is read."""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        return None if value is None else heard(value)

    def get_prep_value(self, value: Any) -> Any:
        if isinstance(value, Said):
            return value.stored
        plain = super().get_prep_value(value)
        return plain.lstrip(MARK) if isinstance(plain, str) else plain  # only `said` writes the mark


def _heard(kept: Mapping[str, Any]) -> Said:
    text, fillers = kept["text"], kept["with"]
    translated = gettext(text) if isinstance(text, str) else ngettext(text[0], text[1], kept["number"])
    words = {name: _said_of(value) for name, value in fillers.items()}
    made = Said(re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), translated).rstrip())
    made.stored = MARK + json.dumps(kept, ensure_ascii=False, sort_keys=True)
    return made


def _plain(value: Filler | None) -> Any:
    """A filler as JSON keeps it."""
    if isinstance(value, Said):
        return json.loads(value.stored[1:])
    if isinstance(value, datetime):
        return {"at": value.isoformat()}
    if isinstance(value, Dated):
        return {"date": value.moment.isoformat()}
    if isinstance(value, timedelta):
        return {"seconds": int(value.total_seconds())}
    if isinstance(value, Counted):
        return {"count": [value.number, value.word, value.words]}
    if isinstance(value, Listed):
        return {"list": [_plain(item) for item in value.items]}
    if isinstance(value, Found):
        return {"found": [value.kind, value.began.isoformat(), _told(value.facts)]}
    return value if isinstance(value, int) else str(value)


def _told(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that sentences are made of; examples of answers are kept with the finding alone."""
    return {name: value for name, value in facts.items() if name not in _EXAMPLES}


_EXAMPLES = frozenset({"shared", "old_token", "new_token", "old_rest", "new_rest", "canary"})


def _said_of(kept: Any) -> str:
    """A filler as it reads in the language that is active now."""
    from drift.findings import words  # its sentences hold what is said, too

    match kept:
        case {"text": _}:
            return _heard(kept)
        case {"at": moment}:
            return words.at(datetime.fromisoformat(moment))
        case {"date": moment}:
            return f"{figures.date_time(datetime.fromisoformat(moment).astimezone(UTC))} UTC"
        case {"seconds": seconds}:
            return figures.duration(timedelta(seconds=seconds))
        case {"count": [number, word, plural]}:
            return figures.plural(number, word, plural)
        case {"list": items}:
            return figures.listed(_said_of(item) for item in items)
        case {"found": [kind, began, facts]}:
            return words.sentence(kind, datetime.fromisoformat(began), facts)
    return str(kept)


def in_facts(value: Filler) -> Any:
    """What is said, for a JSON column: `from_facts` gives it back."""
    return _plain(value)


def from_facts(kept: Any) -> str:
    """A text of a finding's facts in the language that is active now; a plain text is itself."""
    return kept if isinstance(kept, str) else _said_of(kept)


def listing(items: Iterable[Filler]) -> Listed:
    return Listed(tuple(items))
