"""Latency as counts in logarithmic buckets: they add up over hours, so any window has its quantiles."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10

PER_DECADE = 20  # neighbouring buckets differ by 12 %, so a quantile is right to about 6 %


def bucket(milliseconds: float) -> int:
    return floor(PER_DECADE * log10(max(milliseconds, 0.01)))


def middle_ms(index: int) -> float:
    """The geometric middle of a bucket."""
    return float(10 ** ((index + 0.5) / PER_DECADE))


def quantile_ms(counts: Mapping[int, int] | Mapping[str, int], share: float) -> float | None:
    """The latency that `share` of the answers do not exceed, to the width of a bucket. None without answers."""
    total = sum(counts.values())
    if not total:
        return None
    seen = 0
    for index, count in sorted((int(key), count) for key, count in counts.items()):
        seen += count
        if seen >= share * total:
            return middle_ms(index)
    raise AssertionError("shares add up to one")


def added(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    """Counts of two histograms together."""
    both = dict(left)
    for key, count in right.items():
        both[key] = both.get(key, 0) + count
    return both
