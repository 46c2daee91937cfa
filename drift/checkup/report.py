"""The report of a check-up: from stored answers to figures, without a request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from drift.checkup import advice, limits, words
from drift.checkup.identity import TELLS, Identities, identities
from drift.checkup.length import Length, length
from drift.checkup.load import AtBatch, UnderLoad, by_batch, under_load
from drift.checkup.near_ties import NearTies, near_ties
from drift.checkup.prefix import Caching, Prefix, caching, prefix
from drift.checkup.repeats import Repeats, repeats
from drift.checkup.scored import Scored, scored
from drift.checkup.seed import Greedy, SeedEffect, greedy, seed_effect
from drift.checkup.taken import Examination, Feature, StageAnswers
from drift.measure.identity import IdentityKind
from drift.models import CheckupStage

VERSION = 1


@dataclass(frozen=True, slots=True)
class Report:
    """Every section is None, or empty, where nothing was asked or nothing comparable came."""

    version: int
    name: str
    model: str
    began: datetime
    recorded: bool
    in_house: str
    asked: dict[str, Any]
    quiet: Repeats | None
    loads: tuple[Repeats, ...]
    under_load: tuple[UnderLoad, ...]
    by_batch: tuple[AtBatch, ...]
    length: Length | None
    near_ties: NearTies | None
    seed: SeedEffect
    greedy: Greedy
    identities: Identities
    prefix: Prefix | None
    caching: Caching
    scored: Scored | None
    capabilities: tuple[Feature, ...]
    notes: tuple[str, ...]
    verdict: tuple[str, ...] = ()
    settings: tuple[advice.Setting, ...] = ()
    limits: tuple[str, ...] = ()


def report(examination: Examination) -> Report:
    """All figures, then the sentences that follow from them."""
    quiet = examination.quiet
    names = examination.questions
    found = Report(
        version=VERSION,
        name=examination.name,
        model=examination.model,
        began=examination.began,
        recorded=examination.recorded,
        in_house=examination.in_house,
        asked=dict(examination.asked),
        quiet=repeats(quiet, names) if quiet else None,
        loads=tuple(repeats(stage, names) for stage in examination.loads()),
        under_load=under_load(examination),
        by_batch=by_batch(examination),
        length=length(examination),
        near_ties=near_ties(quiet) if quiet else None,
        seed=seed_effect(examination),
        greedy=greedy(examination),
        identities=identities(examination),
        prefix=prefix(examination),
        caching=caching(examination),
        scored=scored(examination),
        capabilities=examination.capabilities,
        notes=notes(examination.stages),
    )
    return spoken(found)


def notes(stages: Iterable[StageAnswers | CheckupStage]) -> tuple[str, ...]:
    """Why less was asked than planned, by stage."""
    return tuple(
        gettext("{stage}: {note}").format(stage=stage.label, note=stage.note) for stage in stages if stage.note
    )


def spoken(found: Report) -> Report:
    """The report with its sentences in the language that is active."""
    identities = replace(found.identities, tells=gettext(TELLS[IdentityKind(found.identities.kind)]))
    found = replace(found, identities=identities)
    return replace(found, verdict=words.verdict(found), settings=advice.settings(found), limits=limits.limits(found))
