"""A suite as people change it: what the next version adds, changes and removes, who is asked it, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext_noop

from drift import monitors
from drift.models import Canary, Monitor, Run, Suite
from drift.said import said
from drift.suites import CanaryText, next_version, text_of


@dataclass(frozen=True, slots=True)
class Difference:
    """Names of canaries. A changed canary is a new one: its answers do not compare with those before."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def difference(before: Sequence[CanaryText], after: Sequence[CanaryText]) -> Difference:
    """What becomes of the canaries; one is the same only if its name, messages and cap are."""
    same = {one.key() for one in before} & {one.key() for one in after}
    gone = [one.name for one in before if one.key() not in same]
    fresh = [one.name for one in after if one.key() not in same]
    changed = [name for name in fresh if name in gone]
    return Difference(
        tuple(name for name in fresh if name not in changed),
        tuple(changed),
        tuple(name for name in gone if name not in changed),
    )


def texts_of(suite: Suite) -> list[CanaryText]:
    return [text_of(canary) for canary in suite.canaries.order_by("places__position")]


def latest(suite: Suite) -> Suite:
    """The newest version of the suite."""
    return Suite.objects.filter(team=suite.team_id, name=suite.name).order_by("-version")[0]


def follow(old: Suite, new: Suite) -> int:
    """Has every endpoint that is asked the old version asked the new one instead; how many.

    The old monitors stay, paused, with their history.
    """
    moved = 0
    with transaction.atomic():
        for row in Monitor.objects.filter(suite=old, active=True, endpoint__archived_at=None).select_related(
            "endpoint"
        ):
            known = Monitor.objects.filter(endpoint=row.endpoint, suite=new).first()
            if known is None:
                monitors.create(
                    endpoint=row.endpoint,
                    suite=new,
                    run_at_once=False,
                    cadence_s=row.cadence_s,
                    repeats=row.repeats,
                    concurrency=row.concurrency,
                    tokens_per_day=row.tokens_per_day,
                )
            elif not known.active:
                monitors.resume(known)
            monitors.pause(row, replaced(old))
            moved += 1
    return moved


def replaced(suite: Suite) -> str:
    """Why a monitor of an earlier version rests."""
    return said(gettext_noop("the next version of {suite} took its place"), suite=str(suite))


def restore(suite: Suite) -> Suite:
    """Makes the canaries of an earlier version the suite again, and returns the version that is asked from now on.

    Later versions that nobody was asked are deleted as if they had never been; if one was measured, the earlier
    canaries become the next version after it.
    """
    with transaction.atomic():
        later = list(Suite.objects.filter(team=suite.team_id, name=suite.name, version__gt=suite.version))
        measured = [one for one in later if one.series.exists() or Run.objects.filter(monitor__suite=one).exists()]
        for one in later:
            if not measured:
                _delete(one)
        if not measured:
            for row in Monitor.objects.filter(suite=suite, active=False, paused_reason=replaced(suite)):
                monitors.resume(row)
            return suite
        newest = latest(suite)
        back = next_version(suite.team, suite.name, texts_of(suite), suite.retention_days)
        if back.pk != newest.pk:
            follow(newest, back)
    return back


def _delete(suite: Suite) -> None:
    """A version without a series, and the canaries that were only in it."""
    Monitor.objects.filter(suite=suite).delete()
    only_here = [one.pk for one in suite.canaries.all() if one.places.count() == 1 and not one.outputs.exists()]
    suite.delete()
    Canary.objects.filter(pk__in=only_here).delete()
