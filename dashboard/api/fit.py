"""Fit for which job, the thresholds behind it, and signed evidence."""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Body, Router, Schema
from pydantic import Field

from dashboard.access import find, team_of
from drift.fit import evidence, facts, jobs, thresholds
from drift.models import Endpoint

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


@router.get("/endpoints/{uuid:endpoint}/fit", response=FitOut, summary="Is this endpoint fit, and for what?")
def show(request: HttpRequest, endpoint: UUID) -> Any:
    found = find(request, Endpoint, endpoint)
    known = facts.gather([found])[0]
    verdicts = jobs.judge(known, thresholds.thresholds_of(team_of(request)))
    return {"endpoint": found.public_id, "checked_up_at": known.reported_at, "verdicts": verdicts}


@router.get("/endpoints/{uuid:endpoint}/evidence", response=EvidenceOut, summary="The latest run as signed evidence")
def bundle(request: HttpRequest, endpoint: UUID) -> Any:
    data = evidence.of_latest_run(find(request, Endpoint, endpoint), timezone.now())
    return {"key": evidence.own_key(), "bundle_base64": base64.b64encode(data).decode()}


@router.get("/fit/thresholds", response=dict[str, float], summary="The team's thresholds; shares are 0 to 1")
def limits(request: HttpRequest) -> Any:
    return thresholds.thresholds_of(team_of(request))


@router.patch("/fit/thresholds", response=dict[str, float], summary="Change thresholds; only what is sent is changed")
def change(request: HttpRequest, body: Body[dict[str, float]]) -> Any:
    thresholds.change(team_of(request), None, body)
    return thresholds.thresholds_of(team_of(request))
