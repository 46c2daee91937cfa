"""Reads stored raw bytes again with a better decoder; what was received and what was asked stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from django.db import transaction
from django.utils import timezone

from drift import readings, rollups
from drift.answers import Answer, ApiKind, Decoded, Exchange, Outcome, Transport
from drift.identities import recount, store_identities
from drift.models import Run, Sample, Series
from drift.outputs import store_outputs
from drift.record import DECODED_FIELDS, fill_decoded

Decoder = Callable[[Sequence[Exchange]], list[Decoded]]


def stale_runs(version: int) -> list[int]:
    """Ids of runs that hold samples read by an older decoder, oldest first."""
    older = Sample.objects.filter(decoder_version__lt=version)
    return list(older.order_by("run_id").values_list("run_id", flat=True).distinct())


def exchange_of(sample: Sample) -> Exchange:
    """The exchange as it was stored with the sample."""
    return Exchange(
        request_body=bytes(sample.request),
        transport=Transport(sample.series.transport),
        started_at=sample.started_at,
        latency_ms=sample.latency_ms,
        first_byte_ms=sample.first_byte_ms,
        status=sample.http_status,
        headers=tuple(sample.headers.items()),
        body=bytes(sample.raw),
        transport_error=Outcome(sample.transport_error) if sample.transport_error else None,
        error_detail=sample.error_message if sample.transport_error else "",
        attempts=sample.attempts,
        kind=ApiKind(sample.series.endpoint.kind),
    )


def redecode_run(run_id: int, decoder: Decoder) -> int:
    """Reads one run's samples again; how many changed their outcome or output. `decoder` reads a whole run at once.

    All in one transaction. Rollups are left to `refresh_series`, once all runs of a series are done.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("series__endpoint").get(pk=run_id)
        if run.series is None:
            return 0
        samples = list(run.samples.select_related("series__endpoint"))
        exchanges = [exchange_of(sample) for sample in samples]
        answers = [
            Answer(sample.canary_id, sample.repeat, exchange, decoded)
            for sample, exchange, decoded in zip(samples, exchanges, decoder(exchanges), strict=True)
        ]
        identities = store_identities(run.series, answers)
        outputs = store_outputs(answers)
        changed = 0
        for sample, answer in zip(samples, answers, strict=True):
            before = (sample.outcome, sample.output_id)
            fill_decoded(sample, answer.decoded, run.series.endpoint, identities, outputs)
            changed += before != (sample.outcome, sample.output_id)
        Sample.objects.bulk_update(samples, DECODED_FIELDS)
        run.samples_comparable = sum(sample.output_id is not None for sample in samples)
        run.save(update_fields=["samples_comparable"])
    return changed


def refresh_series(run_ids: Sequence[int]) -> Iterator[Series]:
    """Makes rollups, readings and identity counts of the runs' series anew, one series at a time."""
    for series in Series.objects.filter(runs__in=run_ids).distinct().select_related("endpoint"):
        with transaction.atomic():
            rollups.rebuild(series)
            readings.refresh(series, timezone.now())
            recount(series.endpoint)
        yield series
