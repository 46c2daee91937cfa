"""What a change did to the answers, for people: how many departed, of which kind, and where the first one parts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from drift.findings.gather import share_departing
from drift.measure.agreement import around_divergence, first_divergence
from drift.measure.two_sample import Difference, Table, TwoSample, compare_shares, kind_of_difference
from drift.models import Baseline, Canary, Output, Sample, Series
from drift.readings import tokens_of

CONTEXT = 12  # tokens shown on either side of the first that differs
LEVEL = 0.01
LEAST_ANSWERS = 2

Reference = Mapping[str, Mapping[str, int]]


def counts_since(series: Series, since: datetime) -> dict[str, dict[str, int]]:
    """{canary: {output: comparable answers}} of the runs from `since` on."""
    rows = Sample.objects.filter(series=series, scheduled_for__gte=since, output__isnull=False)
    counts: dict[str, dict[str, int]] = {}
    for canary, output in rows.values_list("canary_id", "output_id").iterator():
        outputs = counts.setdefault(str(canary), {})
        outputs[str(output)] = outputs.get(str(output), 0) + 1
    return counts


def tables(before: Reference, after: Reference) -> list[Table[str]]:
    """Both sides' counts per canary that has answers on both."""
    made = []
    for canary in before:
        outputs = tuple(sorted({*before[canary], *after.get(canary, {})}))
        a = np.array([[before[canary].get(output, 0) for output in outputs]], dtype=np.int64)
        b = np.array([[after.get(canary, {}).get(output, 0) for output in outputs]], dtype=np.int64)
        if a.sum() >= LEAST_ANSWERS and b.sum() >= LEAST_ANSWERS:
            made.append(Table(outputs, a, b))
    return made


def verdict(before: Baseline, after: Baseline) -> dict[str, Any]:
    """Whether two baselines' answers come from one distribution: {moved, formatting, p, effect ...}; {} if unknown."""
    rng = np.random.default_rng(after.pk or 0)
    raw = compare_shares(tables(before.reference, after.reference), rng)
    even = compare_shares(tables(before.normalised, after.normalised), rng)
    if raw is None or even is None:
        return {}
    difference = kind_of_difference(raw, even, LEVEL)
    canaries = list(_shares(before.reference, after.reference).values())
    return {
        "moved": difference is not Difference.NOT_FOUND,
        "formatting": difference is Difference.FORMATTING,
        "p": raw.p,
        "canaries": raw.canaries,
        "canaries_moved": sum(share > 0.5 for share in canaries),
        "before": before.divergence,
        "after": after.divergence,
        "first_before": before.first_divergence,
        "first_after": after.first_divergence,
        **_effect(raw),
    }


def _effect(sample: TwoSample) -> dict[str, Any]:
    if sample.effect is None:
        return {}
    return {"effect": sample.effect.value, "effect_low": sample.effect.low, "effect_high": sample.effect.high}


def _shares(before: Reference, after: Reference) -> dict[str, float]:
    """How far each canary's answers departed: P(an answer before and one after differ)."""
    shares = {}
    for canary, outputs in before.items():
        share = share_departing(outputs, after.get(canary, {}))
        if share is not None:
            shares[canary] = share
    return shares


def first_parting(before: Reference, after: Reference) -> dict[str, Any]:
    """The clearest example: the canary whose answers departed most, its commonest answer before and after, and the
    first token at which they part. {} where the commonest answers are the same everywhere.
    """
    shares = _shares(before, after)
    for canary in sorted(shares, key=lambda key: -shares[key]):
        old = _commonest(before[canary])
        new = _commonest(after[canary])
        if old == new:
            continue
        outputs = Output.objects.in_bulk([int(old), int(new)])
        asked = Canary.objects.filter(pk=int(canary)).first()
        if len(outputs) < 2 or asked is None:
            continue
        a, known_a = tokens_of(outputs[int(old)])
        b, known_b = tokens_of(outputs[int(new)])
        around = around_divergence(a, b, CONTEXT)
        if around is None:
            continue
        shared, left, right = (b"".join(part).decode("utf-8", "replace") for part in around)
        return {
            "canary": asked.name,
            "canary_id": str(asked.public_id),
            "old_output": str(outputs[int(old)].public_id),
            "new_output": str(outputs[int(new)].public_id),
            "token": first_divergence(a, b),
            "tokens_known": known_a and known_b,
            "shared": shared,
            "old_token": _first(around[1]),
            "new_token": _first(around[2]),
            "old_rest": left[len(_first(around[1])) :],
            "new_rest": right[len(_first(around[2])) :],
            "canaries_moved": sum(share > 0.5 for share in shares.values()),
            "canaries": len(shares),
        }
    return {}


def _commonest(counts: Mapping[str, int]) -> str:
    return max(counts, key=lambda key: (counts[key], key))


def _first(tokens: list[bytes]) -> str:
    return tokens[0].decode("utf-8", "replace") if tokens else ""
