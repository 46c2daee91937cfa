"""Where differing answers part, over many pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drift.measure.horizon import AgreementLengths


def median_first_divergence(per_canary: Sequence[AgreementLengths]) -> int | None:
    """Weighted median index (0-based) of the first differing token over all pairs that differ; None if none does.

    Canaries weigh the same, pairs within a canary too. Only pairs seen to part count: it says where they part when
    they part, and nothing of how often (that is the divergence) or of how long answers agree (the horizon).
    """
    lengths: list[np.ndarray] = []
    weights: list[np.ndarray] = []
    for entry in per_canary:
        parted = ~entry.censored
        total = entry.weights[parted].sum()
        if total > 0:
            lengths.append(entry.lengths[parted])
            weights.append(entry.weights[parted] / total)
    if not lengths:
        return None
    position, weight = np.concatenate(lengths), np.concatenate(weights)
    order = np.argsort(position, kind="stable")
    cumulative = np.cumsum(weight[order])
    return int(position[order][np.searchsorted(cumulative, cumulative[-1] / 2)])
