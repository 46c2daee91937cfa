"""What the endpoint says it is, and how much that can tell."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from drift.checkup.taken import Examination
from drift.findings.names import Name
from drift.identities import identifies
from drift.measure.fingerprints import read
from drift.measure.identity import IdentityKind, profile
from drift.measure.intervals import Estimate

TELLS = {
    IdentityKind.UNKNOWN: gettext_noop("Too few answers to say what its names mean."),
    IdentityKind.ABSENT: gettext_noop("It never says who answered: only the answers themselves can show a change."),
    IdentityKind.CONSTANT: gettext_noop("One name throughout. A new one will mean that something changed."),
    IdentityKind.STABLE_SET: gettext_noop(
        "Several names in turn, all seen before. A new one, or one that vanishes, will mean "
        "something; which of them answered may matter too."
    ),
    IdentityKind.CHURNING: gettext_noop("New names keep coming, so a new one will mean nothing."),
}


@dataclass(frozen=True, slots=True)
class Named:
    """One name with how many answers bore it. `parts`: what its fingerprint says, for servers that write it in."""

    label: str
    model_echo: str | None
    upstream: str
    answers: int
    server: str
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Identities:
    """`kind`: an `IdentityKind`. `unseen`: chance that the next answer bears a name not seen yet."""

    kind: str
    tells: str
    names: tuple[Named, ...]
    distinct: int
    answers: int
    unseen: Estimate | None
    echo_differs: str
    prompts_steady: bool | None


def identities(examination: Examination) -> Identities:
    """From all answers that the endpoint itself produced, in the order of their starts."""
    answers = sorted(
        (one for stage in examination.stages for one in stage.answers if identifies(one.decoded)),
        key=lambda one: one.started_at,
    )
    names = [_name(one.decoded.identity) for one in answers]
    found = profile([None if name.says_nothing else name.key() for name in names])
    counts = Counter(names)
    echoes = {name.model_echo for name in names if name.model_echo}
    other = sorted(echoes - {examination.model})
    return Identities(
        kind=found.kind.value,
        tells=gettext(TELLS[found.kind]),
        names=tuple(_named(name, count) for name, count in counts.most_common(12)),
        distinct=found.distinct,
        answers=found.answers,
        unseen=found.unseen,
        echo_differs=", ".join(other[:3]),
        prompts_steady=_steady(examination),
    )


def _name(facts: object) -> Name:
    return Name(
        getattr(facts, "model_echo", None),
        str(getattr(facts, "fingerprint_state", "absent")),
        getattr(facts, "fingerprint", ""),
        getattr(facts, "upstream", ""),
    )


def _named(name: Name, count: int) -> Named:
    taken = read(name.fingerprint) if name.fingerprint else None
    return Named(
        label=name.label,
        model_echo=name.model_echo,
        upstream=name.upstream,
        answers=count,
        server=taken.server if taken else "",
        parts=taken.parts if taken else (),
    )


def _steady(examination: Examination) -> bool | None:
    """Whether each question always cost the same number of prompt tokens; None where none are reported."""
    seen: dict[str, set[int]] = {}
    for stage in examination.stages:
        for answer in stage.answers:
            if answer.decoded.usage.prompt_tokens is not None:
                seen.setdefault(answer.question, set()).add(answer.decoded.usage.prompt_tokens)
    return all(len(counts) == 1 for counts in seen.values()) if seen else None
