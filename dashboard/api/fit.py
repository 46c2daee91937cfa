"""Fit for which job, the thresholds behind it, and signed evidence."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from ninja import Body, Query, Router, Schema
from pydantic import Field

from dashboard.access import find, team_of
from drift.batch_effect import ledger
from drift.checkup.plain import to_plain
from drift.fit import evidence, facts, jobs, price, thresholds
from drift.models import Checkup, Endpoint, Sample

router = Router(tags=["Fit"])


class VerdictOut(Schema):
    job: str = Field(description="replay, audit, rl, prefix or creative")
    word: str = Field(description="fit, not fit or unknown")
    figure: str = Field(description="What decided")
    threshold: str
    reason: str
    price: str = Field(description="What getting there takes; empty if it is fit")


class FitOut(Schema):
    endpoint: UUID
    checked_up_at: datetime | None
    verdicts: list[VerdictOut]


class EvidenceOut(Schema):
    key: str = Field(description="Public key that signed it")
    bundle_base64: str = Field(description="A zip file for `manage.py verify-bundle`")


class PriceQuery(Schema):
    tokens_per_day: Annotated[float, Field(gt=0, le=1e15)] | None = Field(None, description="null: as measured here")
    hourly: Annotated[float, Field(ge=0, le=1e6)] | None = Field(None, description="Dollars an hour of the machine")


class PriceOut(Schema):
    measured: dict[str, Any] | None = Field(description="null: the benchmark was not run")
    tokens_per_day: float | None
    on_traffic: list[dict[str, Any]]


@router.get("/endpoints/{uuid:endpoint}/fit", response=FitOut, summary="Is this endpoint fit, and for what?")
def show(request: HttpRequest, endpoint: UUID) -> Any:
    found = find(request, Endpoint, endpoint)
    known = facts.gather([found])[0]
    verdicts = jobs.judge(known, thresholds.thresholds_of(team_of(request)))
    return {"endpoint": found.public_id, "checked_up_at": known.reported_at, "verdicts": verdicts}


@router.get("/endpoints/{uuid:endpoint}/evidence", response=EvidenceOut, summary="The latest run as signed evidence")
def bundle(request: HttpRequest, endpoint: UUID) -> Any:
    return _signed(evidence.of_latest_run(find(request, Endpoint, endpoint), timezone.now()))


@router.get("/samples/{uuid:sample}/evidence", response=EvidenceOut, summary="One answer as signed evidence")
def of_sample(request: HttpRequest, sample: UUID) -> Any:
    found = find(request, Sample, sample)
    row = Sample.objects.select_related("identity", "output", "canary", "series__endpoint").get(
        scheduled_for=found.scheduled_for, public_id=found.public_id
    )
    return _signed(evidence.of_samples(row.series.endpoint, [row], timezone.now()))


@router.get("/checkups/{uuid:checkup}/evidence", response=EvidenceOut, summary="A check-up as signed evidence")
def of_checkup(request: HttpRequest, checkup: UUID) -> Any:
    return _signed(evidence.of_checkup(find(request, Checkup, checkup), timezone.now()))


@router.get("/fit/price", response=PriceOut, summary="What determinism costs, measured, and on your traffic")
def price_of(request: HttpRequest, query: Annotated[PriceQuery, Query()]) -> Any:
    """Tokens per second of the in-house worker in both modes by batch size, as its benchmark wrote them."""
    measured = ledger(settings.BASE_DIR / "docs" / "benchmarks" / "worker.json")
    traffic = price.tokens_per_day(team_of(request), timezone.now())
    daily = query.tokens_per_day or (traffic[0] if traffic else None)
    costs = price.on_traffic(measured.prices, daily, query.hourly) if measured and daily else ()
    return {
        "measured": to_plain(measured),
        "tokens_per_day": daily,
        "on_traffic": [{**to_plain(one), "sentence": one.sentence} for one in costs],
    }


@router.get("/fit/thresholds", response=dict[str, float], summary="The team's thresholds; shares are 0 to 1")
def limits(request: HttpRequest) -> Any:
    return thresholds.thresholds_of(team_of(request))


@router.patch("/fit/thresholds", response=dict[str, float], summary="Change thresholds; only what is sent is changed")
def change(request: HttpRequest, body: Body[dict[str, float]]) -> Any:
    thresholds.change(team_of(request), None, body)
    return thresholds.thresholds_of(team_of(request))


def _signed(data: bytes) -> dict[str, str]:
    return {"key": evidence.own_key(), "bundle_base64": base64.b64encode(data).decode()}
