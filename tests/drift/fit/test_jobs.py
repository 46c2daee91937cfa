"""Verdicts: fit, not fit, unknown; each by the figure that decides it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from drift.answers import Decoded, FingerprintState, IdentityFacts, Outcome, ScoredToken, Usage
from drift.batch_effect import Price
from drift.checkup.report import Report, report
from drift.checkup.taken import Examination, Kind, StageAnswers, Taken
from drift.entered import EntryError
from drift.fit import thresholds
from drift.fit.facts import Facts
from drift.fit.jobs import FIT, NOT_FIT, UNKNOWN, Verdict, judge
from drift.fit.price import on_traffic
from drift.fit.thresholds import DEFAULTS
from drift.models import Team, User

BEGAN = datetime(2026, 11, 20, 9, tzinfo=UTC)
WORDS = "the tide rises twice a day and nobody in the harbour town is surprised by it any more at all"


def said(text: str, fingerprint: str = "fp_one", cached: int | None = None, gap: float = 0.0) -> Decoded:
    pieces = [w if i == 0 else f" {w}" for i, w in enumerate(text.split())]
    tokens = tuple(ScoredToken(p.encode(), -0.25 - gap, ((p.encode(), -0.25), (b"?", -4.0))) for p in pieces)
    return Decoded(
        1,
        Outcome.TEXT,
        text=text,
        finish="stop",
        tokens=tokens,
        usage=Usage(10, len(pieces), cached_tokens=cached),
        identity=IdentityFacts(
            "gpt-x", FingerprintState.VALUE if fingerprint else FingerprintState.ABSENT, fingerprint
        ),
    )


def stage(kind: str, texts: list[list[Decoded]], concurrency: int = 1) -> StageAnswers:
    answers = [
        Taken(f"q{q}", n, one, BEGAN + timedelta(seconds=100 * q + n), 100.0)
        for q, repeats in enumerate(texts)
        for n, one in enumerate(repeats)
    ]
    return StageAnswers(kind, kind, concurrency, 256, tuple(answers))


def made(*stages: StageAnswers) -> Report:
    names = {f"q{i}": f"Question {i}" for i in range(40)}
    return report(Examination("gpt-x", "gpt-x", BEGAN, names, stages, asked={"temperature": 0}))


def facts(found: Report | None, **fields: object) -> Facts:
    usual = Facts("gpt-x", "", {"temperature": 0}, found, BEGAN, "valid", "", "id")
    return replace(usual, **fields)  # type: ignore[arg-type]


def verdict(job: str, known: Facts, **limits: float) -> Verdict:
    return next(one for one in judge(known, {**DEFAULTS, **limits}) if one.job == job)


def long(text: str = WORDS, times: int = 8) -> str:
    return " ".join([text] * times)


EXACT = [[said(long())] * 21 for _ in range(30)]
LOOSE = [[said(f"{WORDS} {i % 3} {long()}") for i in range(21)] for _ in range(30)]


def test_nothing_measured_is_unknown_for_every_job_but_the_one_that_settings_decide() -> None:
    words = {one.job: one.word for one in judge(facts(None), DEFAULTS)}
    assert words == {"replay": UNKNOWN, "audit": UNKNOWN, "rl": UNKNOWN, "prefix": UNKNOWN, "creative": NOT_FIT}


def test_replay_wants_no_difference_and_enough_pairs() -> None:
    assert verdict("replay", facts(made(stage(Kind.QUIET, EXACT)))).word == FIT
    few = verdict("replay", facts(made(stage(Kind.QUIET, EXACT[:2]))))
    assert few.word == UNKNOWN
    assert "could" in few.reason
    loose = verdict("replay", facts(made(stage(Kind.QUIET, LOOSE))))
    assert loose.word == NOT_FIT
    assert "differ" in loose.figure
    assert loose.price


def test_replay_is_not_fit_where_busy_answers_are_others() -> None:
    busy = stage(Kind.LOAD, [[said(long("another tide"))] * 20 for _ in range(30)], 8)
    assert verdict("replay", facts(made(stage(Kind.QUIET, EXACT), busy))).word == NOT_FIT


@pytest.mark.parametrize(
    ("answers", "fields", "limits", "word"),
    [
        (EXACT, {}, {}, FIT),
        (LOOSE, {}, {}, NOT_FIT),
        (LOOSE, {}, {"audit_cap": 10}, FIT),
        (EXACT, {}, {"audit_cap": 5000}, UNKNOWN),
        (EXACT, {"baseline": "invalidated", "baseline_words": "a new name"}, {}, NOT_FIT),
        (EXACT, {"baseline": ""}, {}, UNKNOWN),
        ([[said(long(), "")] * 21 for _ in range(30)], {}, {}, NOT_FIT),
    ],
)
def test_audit_wants_a_baseline_a_name_and_a_horizon(answers, fields, limits, word) -> None:
    assert verdict("audit", facts(made(stage(Kind.QUIET, answers)), **fields), **limits).word == word


def test_rl_wants_equal_numbers_and_enough_of_them() -> None:
    quiet = stage(Kind.QUIET, EXACT)
    equal = made(quiet, stage(Kind.SCORED, [[said(long()), said(long())]] * 4))
    assert verdict("rl", facts(equal)).word == FIT
    assert verdict("rl", facts(equal), rl_tokens=10_000).word == UNKNOWN
    apart = made(quiet, stage(Kind.SCORED, [[said(long()), said(long(), gap=1e-3)]] * 4))
    found = verdict("rl", facts(apart))
    assert found.word == NOT_FIT
    assert "0.001 nats" in found.reason
    assert verdict("rl", facts(apart), rl_gap=0.01).word == FIT


def test_prefix_wants_hits_that_pay_and_change_nothing() -> None:
    def fresh(cold: str, cached: int | None) -> StageAnswers:
        return stage(
            Kind.PREFIX, [[said(cold, cached=0), said("warm", cached=cached), said("warm", cached=cached)]] * 12
        )

    quiet = stage(Kind.QUIET, EXACT)
    assert verdict("prefix", facts(made(quiet, fresh("warm", 8)))).word == FIT
    assert verdict("prefix", facts(made(quiet, fresh("cold", 8)))).word == NOT_FIT
    assert verdict("prefix", facts(made(quiet, fresh("warm", None)))).word == UNKNOWN
    assert verdict("prefix", facts(made(quiet, fresh("warm", 0)))).word == NOT_FIT


def test_creative_work_takes_temperature_0_for_the_mistake() -> None:
    zero = verdict("creative", facts(made(stage(Kind.QUIET, LOOSE))))
    assert (zero.word, zero.figure) == (NOT_FIT, "temperature 0")
    warm = {"temperature": 0.8}
    assert verdict("creative", facts(made(stage(Kind.QUIET, LOOSE)), parameters=warm)).word == FIT
    assert verdict("creative", facts(made(stage(Kind.QUIET, EXACT)), parameters=warm)).word == NOT_FIT


def test_a_team_changes_its_thresholds(team: Team, alice: User) -> None:
    thresholds.change(team, alice, {"audit_cap": 512})
    assert thresholds.thresholds_of(team)["audit_cap"] == 512
    assert thresholds.thresholds_of(team)["rl_tokens"] == DEFAULTS["rl_tokens"]
    for wrong in ({"audit_cap": 0}, {"nothing": 1}):
        with pytest.raises(EntryError):
            thresholds.change(team, alice, wrong)


def test_determinism_pays_where_repeats_are_saved() -> None:
    (one,) = on_traffic([Price(8, fast=1000.0, invariant=800.0)], tokens_per_day=36_000_000, hourly=2.0)
    assert one.fast_hours == pytest.approx(10)
    assert one.invariant_hours == pytest.approx(12.5)
    assert one.extra_cost == pytest.approx(5)
    assert one.breaks_even == pytest.approx(0.25)
    # at the break-even share both sides take the same time
    assert (1 - 0.25 + 0.25 / 5) / one.ratio == pytest.approx(1)
    (never,) = on_traffic([Price(1, fast=1000.0, invariant=100.0)], 1000.0)
    assert never.breaks_even > 1
    assert "never" in never.sentence
