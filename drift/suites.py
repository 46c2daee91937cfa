"""Versions of a suite: unchanged canaries are kept, changed ones superseded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from drift.entered import EntryError
from drift.models import Canary, Suite, SuiteCanary, Team


@dataclass(frozen=True, slots=True)
class CanaryText:
    """What makes a canary: two with the same text are the same."""

    name: str
    messages: list[dict[str, Any]]
    max_tokens: int

    def key(self) -> str:
        return json.dumps([self.name, self.messages, self.max_tokens], sort_keys=True)


def text_of(canary: Canary) -> CanaryText:
    return CanaryText(canary.name, canary.messages, canary.max_tokens)


def next_version(team: Team, name: str, texts: Sequence[CanaryText], retention_days: int | None = None) -> Suite:
    """The suite of that name with exactly these canaries in this order: the latest version if it is so already.

    Raises EntryError if a canary comes twice.
    """
    if len({text.key() for text in texts}) < len(texts):
        raise EntryError(gettext("The suite {name} has the same canary twice.").format(name=f"{name!r}"))
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)  # versions are numbered one after the other
        latest = Suite.objects.filter(team=team, name=name).order_by("-version").first()
        before = list(latest.canaries.order_by("places__position")) if latest else []
        if latest is not None and [text_of(one).key() for one in before] == [text.key() for text in texts]:
            if retention_days is not None and latest.retention_days != retention_days:
                latest.retention_days = retention_days
                latest.save(update_fields=["retention_days"])
            return latest
        suite = Suite.objects.create(
            team=team,
            name=name,
            version=latest.version + 1 if latest else 1,
            retention_days=retention_days or (latest.retention_days if latest else 400),
        )
        SuiteCanary.objects.bulk_create(
            SuiteCanary(suite=suite, canary=canary, position=position)
            for position, canary in enumerate(_canaries(team, name, before, texts))
        )
    return suite


def _canaries(team: Team, name: str, before: Sequence[Canary], texts: Sequence[CanaryText]) -> list[Canary]:
    """The canary of each text: one that some version of the suite had, or a new one that supersedes its namesake."""
    versions = Suite.objects.filter(team=team, name=name)
    had = Canary.objects.filter(places__suite__in=versions).order_by("-pk").distinct()
    same = {text_of(canary).key(): canary for canary in had}
    superseded = set(Canary.objects.filter(supersedes__in=before).values_list("supersedes_id", flat=True))
    kept = {text.key() for text in texts}
    namesake = {
        canary.name: canary for canary in before if text_of(canary).key() not in kept and canary.pk not in superseded
    }
    fresh = {
        text.key(): Canary(
            team=team,
            name=text.name,
            messages=text.messages,
            max_tokens=text.max_tokens,
            supersedes=namesake.pop(text.name, None),
        )
        for text in texts
        if text.key() not in same
    }
    Canary.objects.bulk_create(fresh.values())
    return [same.get(text.key()) or fresh[text.key()] for text in texts]
