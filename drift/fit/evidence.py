"""Which stored answers go into a bundle, and what is said of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from drift.checkup.packed import unpack
from drift.entered import EntryError
from drift.fit.bundle import Piece, make, public_hex, signing_key
from drift.models import Checkup, CheckupAnswer, Endpoint, Run, Sample

MOST_ANSWERS = 2000


def own_key() -> str:
    """This installation's public key, by which others know its bundles."""
    return public_hex(signing_key(settings.SECRET_KEY))


def of_samples(endpoint: Endpoint, samples: Iterable[Sample], now: datetime) -> bytes:
    """A bundle of an endpoint's samples. Raises EntryError without any."""
    pieces = [_of_sample(sample) for sample in samples]
    return _made(pieces, _about(endpoint), now)


def of_latest_run(endpoint: Endpoint, now: datetime) -> bytes:
    """A bundle of the endpoint's last finished run. Raises EntryError where there is none."""
    run = Run.objects.filter(monitor__endpoint=endpoint, state=Run.State.FINISHED).order_by("-scheduled_for").first()
    if run is None:
        raise EntryError(gettext("There is no finished run to export yet."))
    rows = Sample.objects.filter(run=run, scheduled_for=run.scheduled_for).select_related(
        "identity", "output", "canary"
    )
    return of_samples(endpoint, rows.order_by("canary_id", "repeat")[:MOST_ANSWERS], now)


def of_checkup(checkup: Checkup, now: datetime) -> bytes:
    """A bundle of a check-up's answers, its first stage first. Raises EntryError without any."""
    rows = CheckupAnswer.objects.filter(stage__checkup=checkup).select_related("stage")
    pieces = [_of_answer(row) for row in rows.order_by("stage__position", "question", "repeat")[:MOST_ANSWERS]]
    about = _about(checkup.endpoint) if checkup.endpoint else {"recorded": checkup.name}
    return _made(pieces, {**about, "check_up": str(checkup.public_id)}, now)


def _made(pieces: list[Piece], about: dict[str, Any], now: datetime) -> bytes:
    if not pieces:
        raise EntryError(gettext("There is no answer to export."))
    return make(pieces, about, signing_key(settings.SECRET_KEY), now)


def _about(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "endpoint": endpoint.name,
        "base_url": endpoint.base_url,
        "model": endpoint.model,
        "kind": endpoint.kind,
        "transport": endpoint.transport,
        "parameters": endpoint.parameters,
    }


def _of_sample(sample: Sample) -> Piece:
    identity = sample.identity
    return Piece(
        request=bytes(sample.request),
        response=bytes(sample.raw),
        about={
            "id": str(sample.public_id),
            "canary": sample.canary.name,
            "repeat": sample.repeat,
            "asked_at": sample.started_at.isoformat(),
            "latency_ms": sample.latency_ms,
            "status": sample.http_status,
            "outcome": sample.outcome,
            "headers": sample.headers,
            "identity": {
                "model": identity.model_echo,
                "fingerprint": identity.fingerprint if identity.fingerprint_state == "value" else None,
                "fingerprint_state": identity.fingerprint_state,
                "upstream": identity.upstream,
                "region": identity.region,
            }
            if identity
            else None,
            "answer_sha256": bytes(sample.output.digest).hex() if sample.output else None,
            "decoder": sample.decoder_version,
        },
    )


def _of_answer(row: CheckupAnswer) -> Piece:
    decoded = unpack(bytes(row.decoded))
    facts = decoded.identity
    return Piece(
        request=bytes(row.request),
        response=bytes(row.raw),
        about={
            "id": str(row.public_id),
            "stage": row.stage.label,
            "question": row.question,
            "repeat": row.repeat,
            "asked_at": row.started_at.isoformat(),
            "latency_ms": row.latency_ms,
            "status": row.http_status,
            "outcome": row.outcome,
            "headers": row.headers,
            "identity": {
                "model": facts.model_echo,
                "fingerprint": facts.fingerprint if facts.fingerprint_state == "value" else None,
                "fingerprint_state": facts.fingerprint_state.value,
                "upstream": facts.upstream,
                "region": facts.region,
            },
            "answer_sha256": hashlib.sha256(decoded.compared.encode("utf-8", "surrogatepass")).hexdigest(),
            "decoder": decoded.version,
        },
    )
