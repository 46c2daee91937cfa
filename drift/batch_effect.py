"""What the batch does to an answer: divergence of our own worker by the size of the batches that produced it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db.models import Count, F, Func, IntegerField

from drift.answers import COMPARABLE
from drift.measure.agreement import Counts, divergence, pair_counts
from drift.measure.intervals import Estimate
from drift.models import Endpoint, Identity, Sample, Team

BINS: tuple[tuple[int, int], ...] = ((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32), (33, 1 << 14))
MODES = ("fast", "invariant")


@dataclass(frozen=True, slots=True)
class AtBatch:
    """Answers whose largest batch lay in one bin. None: fewer than two answers to any canary."""

    low: int
    high: int
    estimate: Estimate | None
    answers: int
    pairs: int
    pairs_differing: int

    @property
    def label(self) -> str:
        if self.low == self.high:
            return str(self.low)
        return f"{self.low}–{self.high}" if self.high < 1 << 14 else f"{self.low}+"


@dataclass(frozen=True, slots=True)
class ModeEffect:
    """One mode of the worker: by batch, and over all answers whatever their batch."""

    mode: str
    endpoint: Endpoint
    identity: str
    by_batch: tuple[AtBatch, ...]
    overall: AtBatch


@dataclass(frozen=True, slots=True)
class Price:
    """Tokens per second at one number of concurrent requests, in both modes, of one run of the benchmark."""

    batch: int
    fast: float
    invariant: float

    @property
    def ratio(self) -> float:
        return self.invariant / self.fast


@dataclass(frozen=True, slots=True)
class Ledger:
    """The worker's own measurements, as its benchmark wrote them down."""

    machine: str
    model: str
    measured_at: str
    prices: tuple[Price, ...]
    rows_verified: int | None
    differing_bits: int | None


class LargestBatch(Func):
    template = "(SELECT max(size) FROM unnest(%(expressions)s) AS size)"
    output_field = IntegerField()


def batch_effect(team: Team, since: datetime) -> list[ModeEffect]:
    """Each in-house mode of the team since a moment, first answers of runs left out."""
    endpoints = list(
        Endpoint.objects.filter(team=team, in_house__in=MODES, archived_at__isnull=True).order_by(
            "in_house", "created_at"
        )
    )
    rows = (
        Sample.objects.filter(
            series__endpoint__in=endpoints,
            scheduled_for__gte=since,
            cold=False,
            output__isnull=False,
            outcome__in=list(COMPARABLE),
            batch_sizes__isnull=False,
        )
        .order_by()
        .annotate(endpoint=F("series__endpoint"), largest=LargestBatch(F("batch_sizes")))
        .values_list("endpoint", "series", "canary", "output", "largest")
        .annotate(answers=Count("public_id"))
    )
    counts: dict[int, dict[int, dict[tuple[int, int], dict[int, int]]]] = {}
    for endpoint, series, canary, output, largest, answers in rows:
        if largest is None:
            continue
        place = counts.setdefault(endpoint, {}).setdefault(_bin_of(largest), {}).setdefault((series, canary), {})
        place[output] = place.get(output, 0) + answers
    labels = {
        identity.endpoint_id: identity.label
        for identity in Identity.objects.filter(endpoint__in=endpoints).order_by("last_seen")
    }
    effects = []
    for endpoint in endpoints:
        bins = counts.get(endpoint.pk, {})
        effects.append(
            ModeEffect(
                mode=endpoint.in_house,
                endpoint=endpoint,
                identity=labels.get(endpoint.pk, ""),
                by_batch=tuple(_at(BINS[i], [list(c.values()) for c in bins[i].values()]) for i in sorted(bins)),
                overall=_at((1, 1 << 14), _pooled(bins)),
            )
        )
    return effects


def ledger(path: Path) -> Ledger | None:
    """The price of determinism in bf16 from the worker's benchmark file; None where it is missing or not readable.

    Tokens per second of processor time: the benchmark's machine may have been shared.
    """
    try:
        stored: dict[str, Any] = json.loads(path.read_text())
        speed = {
            (entry["system"], int(entry["batch"])): float(entry["tokens_per_cpu_s"])
            for entry in stored["entries"]
            if entry["dtype"] == "bf16"
        }
        machine = stored["machine"]
        where = f"{machine['cores']} cores of {machine['cpu']}, {stored['threads']} thread"
    except (OSError, ValueError, KeyError, TypeError):
        return None
    sizes = sorted({batch for _, batch in speed})
    prices = tuple(
        Price(batch, speed["fast", batch], speed["invariant", batch])
        for batch in sizes
        if ("fast", batch) in speed and ("invariant", batch) in speed
    )
    proof = stored.get("verification") or {}
    return Ledger(
        machine=where,
        model=str(stored.get("model", "")),
        measured_at=str(stored.get("measured_at", "")),
        prices=tuple(price for price in prices if price.fast > 0),
        rows_verified=proof.get("rows"),
        differing_bits=proof.get("differing_bits"),
    )


def _bin_of(size: int) -> int:
    return next(i for i, (low, high) in enumerate(BINS) if low <= size <= high)


def _at(bounds: tuple[int, int], per_canary: Sequence[Counts]) -> AtBatch:
    pairs = [pair_counts(counts) for counts in per_canary]
    return AtBatch(
        low=bounds[0],
        high=bounds[1],
        estimate=divergence(per_canary),
        answers=sum(sum(counts) for counts in per_canary),
        pairs=sum(pair.total for pair in pairs),
        pairs_differing=sum(pair.differing for pair in pairs),
    )


def _pooled(bins: dict[int, dict[tuple[int, int], dict[int, int]]]) -> list[list[int]]:
    pooled: dict[tuple[int, int], dict[int, int]] = {}
    for canaries in bins.values():
        for canary, outputs in canaries.items():
            place = pooled.setdefault(canary, {})
            for output, answers in outputs.items():
                place[output] = place.get(output, 0) + answers
    return [list(outputs.values()) for outputs in pooled.values()]
