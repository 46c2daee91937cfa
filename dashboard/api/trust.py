"""Whether yesterday's numbers hold: the gate, for pipelines that speak HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema

from dashboard.access import find
from dashboard.api.fields import Moment
from dashboard.api.readings import aware
from drift.gate import gate
from drift.models import Endpoint

router = Router(tags=["Gate"])


class GateOut(Schema):
    answer: Literal["valid", "void", "not_enough"]
    trust: bool
    exit_status: int
    why: str
    endpoint: dict[str, str]
    series: UUID | None
    since: datetime | None
    baseline: dict[str, Any] | None


@router.get("/endpoints/{uuid:endpoint}/gate", response=GateOut, summary="May numbers from before be trusted now?")
def ask(request: HttpRequest, endpoint: UUID, since: Moment | None = None) -> Any:
    """`since`: when your own reference numbers were taken."""
    return gate(find(request, Endpoint, endpoint), timezone.now(), aware(since) if since else None).as_json()
