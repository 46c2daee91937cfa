"""What production saw, batched, and OpenTelemetry traces."""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Router, Schema
from pydantic import BaseModel, Field

from dashboard.access import find, team_of
from dashboard.api.fields import STORABLE, Asked, Moment
from dashboard.api.problems import problem
from drift.entered import EntryError
from drift.models import Endpoint, ObservedBucket
from drift.observations import otlp
from drift.observations.observation import Observation, Rejected
from drift.observations.protobuf import WireError, export_request
from drift.observations.record import record

router = Router(tags=["Observations"])
LARGEST = 16 * 1024 * 1024

Text = Annotated[str, Field(max_length=300, pattern=STORABLE)]
Hash = Annotated[str, Field(max_length=128, pattern=STORABLE, description="Of any kind; only compared for equality")]
Tokens = Annotated[int, Field(ge=0, le=1_000_000_000, strict=True)]


class ObservationIn(BaseModel):
    """Not ninja's Schema: its reading of attributes costs more than the rest of a batch."""

    endpoint: Annotated[str, Field(min_length=1, max_length=80, pattern=STORABLE, description="Name or id")]
    at: Moment | None = Field(None, description="When it was answered; now if left out")
    model_echo: Text | None = None
    fingerprint: Text | None = None
    prompt_hash: Hash = ""
    output_hash: Hash = ""
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0


class ObservationsIn(Asked):
    observations: Annotated[list[ObservationIn], Field(max_length=5000)]

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "observations": [
                        {
                            "endpoint": "gpt-4o",
                            "model_echo": "gpt-4o-2026-11-01",
                            "fingerprint": "fp_44709d6fcb",
                            "prompt_hash": "9f86d081",
                            "output_hash": "60303ae2",
                            "prompt_tokens": 214,
                            "completion_tokens": 87,
                        }
                    ]
                }
            ]
        }
    }


class RejectedOut(Schema):
    index: int
    reason: str


class Accepted(Schema):
    accepted: int
    rejected: list[RejectedOut]


class ObservedHour(Schema):
    starts_at: datetime
    identity: str | None = Field(description="null: identities beyond what is kept apart, or not told")
    answers: int
    prompt_tokens: int
    completion_tokens: int


class ObservedOut(Schema):
    hours: list[ObservedHour]
    repeated_prompts: int = Field(description="Prompts seen more than once on one day")
    repeated_answers: int = Field(description="Their answers beyond the first of each day")
    differing_answers: int = Field(description="Of these, how many differ from the first: never an agreement figure")


@router.post("/observations", response={202: Accepted}, summary="Report what production saw, in batches")
def add(request: HttpRequest, body: ObservationsIn) -> Any:
    """Counted and committed before the answer. Batches of about 100 are a good size."""
    now = timezone.now()
    seen = [
        Observation(
            at=_utc(one.at) if one.at else now,
            endpoint=one.endpoint,
            model_echo=one.model_echo,
            fingerprint=one.fingerprint,
            prompt_hash=one.prompt_hash,
            output_hash=one.output_hash,
            prompt_tokens=one.prompt_tokens,
            completion_tokens=one.completion_tokens,
        )
        for one in body.observations
    ]
    rejected = record(team_of(request), seen, now)
    told = [{"index": one.index, "reason": one.reason} for one in rejected[:100]]
    return 202, {"accepted": len(seen) - len(rejected), "rejected": told}


@router.get("/endpoints/{uuid:endpoint}/observations", response=ObservedOut, summary="The last 48 hours of production")
def show(request: HttpRequest, endpoint: UUID) -> Any:
    found = find(request, Endpoint, endpoint)
    hours = ObservedBucket.objects.filter(endpoint=found).select_related("identity").order_by("-starts_at", "id")[:500]
    prompts = found.observed_prompts.filter(answers__gt=1)
    sums = prompts.aggregate(answers=Sum("answers"), differing=Sum("differing"))
    repeated = prompts.count()
    return {
        "hours": [
            {
                "starts_at": one.starts_at,
                "identity": one.identity.label if one.identity else None,
                "answers": one.answers,
                "prompt_tokens": one.prompt_tokens,
                "completion_tokens": one.completion_tokens,
            }
            for one in hours
        ],
        "repeated_prompts": repeated,
        "repeated_answers": (sums["answers"] or 0) - repeated,
        "differing_answers": sums["differing"] or 0,
    }


@router.post("/otlp/v1/traces", include_in_schema=False)
def traces(request: HttpRequest) -> HttpResponse:
    """OTLP/HTTP, JSON and protobuf, gzip or not. Set an exporter's address to `/api/v1/otlp`."""
    as_json = request.content_type == "application/json"
    if not as_json and request.content_type not in ("application/x-protobuf", "application/protobuf"):
        return problem(415, "Send OTLP as application/json or application/x-protobuf.")
    now = timezone.now()
    try:
        body = _unpacked(request)
        seen = list(otlp.observations(json.loads(body) if as_json else export_request(body), now))
    except (otlp.OtlpError, WireError, ValueError, RecursionError) as error:
        return problem(400, str(error))
    rejected = record(team_of(request), seen, now)
    if not as_json:
        return HttpResponse(_partial(rejected), content_type="application/x-protobuf")
    told = {"rejectedSpans": len(rejected), "errorMessage": rejected[0].reason} if rejected else {}
    return HttpResponse(json.dumps({"partialSuccess": told} if told else {}), content_type="application/json")


def _unpacked(request: HttpRequest) -> bytes:
    """Never more than `LARGEST`, however small it was packed."""
    if request.headers.get("Content-Encoding", "identity") == "identity":
        whole: bytes = request.body
        return whole
    if request.headers["Content-Encoding"] != "gzip":
        raise otlp.OtlpError("only gzip is unpacked here")
    unpacker = zlib.decompressobj(wbits=31)
    try:
        body: bytes = unpacker.decompress(request.body, LARGEST)
    except zlib.error as error:
        raise otlp.OtlpError(f"this is not gzip: {error}") from error
    if unpacker.unconsumed_tail:
        raise otlp.OtlpError(f"unpacked, the request is larger than {LARGEST // 1024 // 1024} MiB")
    return body


def _partial(rejected: list[Rejected]) -> bytes:
    """ExportTraceServiceResponse { partial_success: 1 { rejected_spans: 1, error_message: 2 } }."""
    if not rejected:
        return b""
    reason: bytes = rejected[0].reason.encode()[:100]
    inner = b"\x08" + _varint(len(rejected)) + b"\x12" + _varint(len(reason)) + reason
    return b"\x0a" + _varint(len(inner)) + inner


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _utc(moment: datetime) -> datetime:
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise EntryError("A time is out of range.") from error
