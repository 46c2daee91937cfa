"""What a void baseline takes with it: eval runs that asked the endpoint while it held."""

from __future__ import annotations

from django.utils.translation import gettext

from drift import figures
from drift.models import Baseline, EvalRun


def evals_on(baseline: Baseline) -> list[EvalRun]:
    """Eval runs begun while this baseline held, the newest first. Their results do not compare with later ones."""
    runs = EvalRun.objects.filter(arms__endpoint=baseline.series.endpoint_id, started_at__gte=baseline.since)
    ended = baseline.invalidated_at or baseline.superseded_at
    if ended is not None:
        runs = runs.filter(started_at__lt=ended)
    return list(runs.select_related("version__eval_set").order_by("-started_at").distinct()[:20])


def in_words(runs: list[EvalRun]) -> str:
    """'Maths of 20 Nov, Summaries of 19 Nov and 2 more'; '' for none."""
    named = [
        gettext("{name} of {date}").format(name=run.version.eval_set.name, date=figures.day(run.started_at))
        for run in runs
        if run.started_at is not None
    ]
    first = figures.listed(named[:3])
    if len(named) <= 3:
        return first
    return gettext("{names} and {number} more").format(names=first, number=len(named) - 3)
