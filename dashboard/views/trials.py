"""An answer replayed, and canaries tried before they are saved: begun here, sent by a worker, shown as it goes on."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard.access import find, may_edit, person_of, require_editor
from drift import replayed, trials
from drift.display import visible
from drift.entered import EntryError
from drift.models import Monitor, Sample, Trial, TrialAnswer

CLAIMS = {
    "model": lambda: _("Model"),
    "fingerprint": lambda: _("Fingerprint"),
    "upstream": lambda: _("Served by"),
    "region": lambda: _("Region"),
    "prompt_tokens": lambda: _("Prompt tokens"),
}


@require_POST
def replay(request: HttpRequest, sample: UUID) -> HttpResponse:
    """Has the sample's exact request sent again, and shows how that goes."""
    require_editor(request)
    found = find(request, Sample, sample)
    try:
        trial = trials.replay(found, person_of(request), timezone.now())
    except EntryError as refusal:
        messages.error(request, str(refusal))
        return redirect("sample", found.public_id)
    return redirect("trial", trial.public_id)


def show(request: HttpRequest, trial: UUID) -> HttpResponse:
    """The result, or how far it is. The address can be sent to anyone on the team."""
    found = find(request, Trial, trial)
    context = {
        "trial": found,
        "endpoint": found.endpoint,
        "live": not found.over,
        "can_edit": may_edit(request),
        "link": request.build_absolute_uri(request.path),
        **(_of_replay(found) if found.kind == Trial.Kind.REPLAY else _of_dry_run(found)),
    }
    part = "live" if request.htmx else "page"  # type: ignore[attr-defined]
    return render(request, f"dashboard/trial/{part}.html", context)


def _of_replay(trial: Trial) -> dict[str, Any]:
    result = replayed.replayed(trial)
    claims = [(CLAIMS[claim.name](), claim) for claim in result.claims] if result else []
    kept = trial.sample is not None and Sample.objects.filter(public_id=trial.sample).exists()
    request = trial.answers.get(former=False).request
    return {
        "canary": trial.canary,
        "replay": result,
        "claims": claims,
        "sample_kept": kept,
        "request_body": visible(bytes(request or b"").decode("utf-8", "replace")),
    }


def _of_dry_run(trial: Trial) -> dict[str, Any]:
    rows = list(trial.answers.all())
    asked = [row for row in rows if row.decoded is not None]
    costs = [row.cost for row in asked if row.cost is not None]
    return {
        "wanted": len(rows),
        "asked": len(asked),
        "tried": _by_canary(rows),
        "cost": sum(costs, Decimal(0)) if costs and len(costs) == len(asked) else None,
        "tokens": sum((row.prompt_tokens or 0) + (row.completion_tokens or 0) for row in asked),
        "followers": Monitor.objects.filter(suite=trial.suite, active=True).count() if trial.suite else 0,
    }


def _by_canary(rows: list[TrialAnswer]) -> list[dict[str, Any]]:
    """Each canary of the draft with its answers, and whether they are the same."""
    tried: dict[int, dict[str, Any]] = {}
    for row in rows:
        one = tried.setdefault(row.position, {"name": row.name, "answers": [], "prompt": _prompt(row)})
        one["answers"].append({"row": row, "text": replayed.text_of(row)})
    for one in tried.values():
        texts = [answer["text"] for answer in one["answers"] if answer["text"]]
        one["differ"] = len(set(texts)) > 1
        one["agree"] = len(texts) > 1 and len(set(texts)) == 1
    return list(tried.values())


def _prompt(row: TrialAnswer) -> str:
    return str((row.messages or [{}])[-1].get("content", ""))
