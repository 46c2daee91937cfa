"""What stands beside the series in the scene: a replay, a dry run, marks on the charts."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta

from drift import marks, trials
from drift.answers import FingerprintState, IdentityFacts
from drift.models import Endpoint, Sample, Suite, Team, Trial, User
from drift.suite_changes import texts_of
from drift.suites import CanaryText
from drift.trials import Draft
from tests.browser.scenery import FEYNMAN, Manner, answer

TURNED = Manner(0.5, lambda at: "tg-7c03-bf16-fast", batches=True, latency_ms=400)


def replayed(sample: Sample, user: User, now: datetime) -> Trial:
    """A finished replay in which the answer and the fingerprint are others than then."""
    return _answered(trials.replay(sample, user, now), now, FEYNMAN)


def tried(suite: Suite, endpoint: Endpoint, user: User, now: datetime) -> Trial:
    """A finished dry run of one new canary and one changed one."""
    texts = [one for one in texts_of(suite) if one.name != "List"]
    fresh = [
        CanaryText("List", [{"role": "user", "content": "Name five seas that touch Europe."}], 64),
        CanaryText("Proverb", [{"role": "user", "content": "Finish the proverb: time and tide ..."}], 24),
    ]
    draft = Draft(suite.name, suite.retention_days, (*texts, *fresh))
    texts_given = ("Time and tide wait for no man.", "Time and tide wait for no one.")
    return _answered(trials.dry_run(endpoint, draft, suite, 2, user, now), now, texts_given)


def marked(team: Team, endpoint: Endpoint, user: User, now: datetime) -> None:
    marks.add(team, user, at=now - timedelta(hours=5), text="new prompt template shipped", now=now, endpoint=endpoint)
    marks.add(team, user, at=now - timedelta(hours=2), text="provider's status page: degraded", now=now)


def _answered(trial: Trial, now: datetime, texts: tuple[str, ...]) -> Trial:
    claimed = trials.claim(trial.pk, now)
    if claimed is None:
        raise ValueError(f"trial {trial.pk} cannot be claimed")
    held, token = claimed
    rng = random.Random(trial.pk)
    for row in trials.open_answers(held):
        at = row.started_at or now
        text = texts[0] if row.former else texts[(1 + row.position + row.repeat) % len(texts)]
        given = answer(1, row.repeat, text, texts, TURNED, at, rng)
        decoded = given.decoded
        if row.former:
            was = IdentityFacts("model-2026-08-01", FingerprintState.VALUE, "tg-5f21-bf16-fast")
            decoded = replace(decoded, identity=was)
        trials.store(held, token, row, replace(given.exchange, started_at=at), decoded)
    trials.end(held, token, now)
    return held
