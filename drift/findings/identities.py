"""The set of names that an endpoint bears, and the new ones that are being watched beside it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from drift.findings.names import Name
from drift.measure.identity import CHURNING_MASS, IdentityKind, profile, unseen_mass

LEARNS = 12  # runs in which every name simply joins the set
MOST_NAMES = 100


@dataclass(frozen=True, slots=True)
class Known:
    """How often one name of the set was borne, and in which run last."""

    runs: int
    answers: int
    last_run: int


@dataclass(frozen=True, slots=True)
class Identities:
    """The set of names of a series and what is being watched beside it.

    `stretches`: runs, where a stretch of runs that bear one and the same name alone counts once. `since`: the runs from
    the first sighting of a new name on.
    """

    runs: int = 0
    known: Mapping[str, Known] = field(default_factory=dict)
    former: tuple[str, ...] = ()
    alone: str = ""
    stretch: int = 0
    longest_stretch: int = 0
    stretches: int = 0
    since: tuple[Mapping[str, int], ...] = ()
    since_at: datetime | None = None
    extra: int = 0

    @property
    def learned(self) -> bool:
        """After a change there is no second time of learning: what it could hide is a second change."""
        return self.runs >= LEARNS or bool(self.former)

    @property
    def kind(self) -> IdentityKind:
        """How much the names can tell."""
        counts = [known.answers for known in self.known.values()]
        if self.known and all(Name.read(key).says_nothing for key in self.known) and len(self.known) == 1:
            return IdentityKind.ABSENT
        kind = profile([key for key, known in self.known.items() for _ in range(min(known.answers, 50))]).kind
        mass = unseen_mass(counts)
        by_run = unseen_mass([known.runs for known in self.known.values()])
        if any(each is not None and each.value > CHURNING_MASS for each in (mass, by_run)) and len(self.known) > 1:
            return IdentityKind.CHURNING
        return kind

    @property
    def main(self) -> str | None:
        """The commonest name."""
        return max(self.known, key=lambda key: (self.known[key].answers, key), default=None)

    @property
    def in_stretches(self) -> bool:
        """Whether one name answers several runs alone and then another: a pool of machines behind one address."""
        return len(self.known) > 1 and self.stretches * 2 <= self.runs and self.longest_stretch > 1

    @property
    def new_names(self) -> tuple[str, ...]:
        """Names being watched, the commonest first."""
        counts: dict[str, int] = {}
        for run in self.since:
            for key, answers in run.items():
                if key not in self.known:
                    counts[key] = counts.get(key, 0) + answers
        return tuple(sorted(counts, key=lambda key: -counts[key]))

    @property
    def taken_over(self) -> int:
        """How many of the last runs bore no known name at all."""
        number = 0
        for run in reversed(self.since):
            if any(key in self.known for key in run):
                break
            number += 1
        return number

    def to_numbers(self) -> dict[str, Any]:
        return {
            "runs": self.runs,
            "known": {key: [k.runs, k.answers, k.last_run] for key, k in self.known.items()},
            "former": list(self.former),
            "alone": [self.alone, self.stretch, self.longest_stretch, self.stretches],
            "since": [dict(run) for run in self.since],
            "since_at": self.since_at.isoformat() if self.since_at else None,
            "extra": self.extra,
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> Identities:
        alone, stretch, longest, stretches = numbers["alone"]
        return cls(
            runs=int(numbers["runs"]),
            known={key: Known(*map(int, row)) for key, row in numbers["known"].items()},
            former=tuple(numbers["former"]),
            alone=alone,
            stretch=int(stretch),
            longest_stretch=int(longest),
            stretches=int(stretches),
            since=tuple({key: int(n) for key, n in run.items()} for run in numbers["since"]),
            since_at=datetime.fromisoformat(numbers["since_at"]) if numbers["since_at"] else None,
            extra=int(numbers["extra"]),
        )


def absorbed(state: Identities, names: Mapping[str, int]) -> Identities:
    number = state.runs + 1
    known = dict(state.known)
    for key, answers in names.items():
        old = known.get(key, Known(0, 0, 0))
        known[key] = Known(old.runs + 1, old.answers + answers, number)
    if len(known) > MOST_NAMES:
        known = dict(sorted(known.items(), key=lambda item: -item[1].last_run)[:MOST_NAMES])
    alone = next(iter(names)) if len(names) == 1 else ""
    same = bool(alone) and alone == state.alone
    stretch = state.stretch + 1 if same else int(bool(alone))
    return replace(
        state,
        runs=number,
        known=known,
        former=tuple(key for key in state.former if key not in known),
        alone=alone,
        stretch=stretch,
        longest_stretch=max(state.longest_stretch, stretch),
        stretches=state.stretches + (not same),
    )
