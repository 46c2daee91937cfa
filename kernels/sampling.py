"""Choosing the next token so that the choice can be repeated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]
"""One row of logits, [V]."""


def greedy(logits: Logits) -> int:
    """The token with the largest logit; ties go to the lowest id (numpy's argmax returns the first)."""
    return int(np.argmax(logits))


def counter_uniform(seed: int, position: int, token_ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """Uniforms in (0, 1), one per token id: a hash of (seed, position, token id) and of nothing else.

    There is no generator state, so the number cannot depend on who was sampled before. The mixer is the finaliser of
    SplitMix64 (Steele, Lea & Flood 2014), applied once per component.
    """
    with np.errstate(over="ignore"):
        key = _mix(np.uint64(seed & _MASK) + _GOLDEN)
        key = _mix(key ^ (np.uint64(position) * _GOLDEN + _GOLDEN))
        bits = _mix(key ^ (token_ids.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
    return ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def sample(
    logits: Logits, *, temperature: float, top_p: float = 1.0, top_k: int = 0, seed: int = 0, position: int = 0
) -> int:
    """Draw from ``softmax(logits / temperature)`` restricted to top-k and then top-p, by the Gumbel-max rule.

    ``argmax(logits / temperature + G)`` with ``G = -log(-log(u))`` in float64 draws exactly from that softmax. The
    noise is indexed by token id, not by rank, so two logits that swap places take their noise with them.

    Args:
        temperature: 0 means :func:`greedy`.
        top_p: keep the most likely tokens until their mass reaches this; 1 keeps all.
        top_k: keep this many; 0 keeps all.
        seed: any integer; taken modulo 2^64.
        position: index of the sampled token in its sequence.
    """
    if temperature <= 0:
        return greedy(logits)
    kept = _candidates(logits, temperature, top_p, top_k)
    noise = -np.log(-np.log(counter_uniform(seed, position, kept)))
    return int(kept[np.argmax(logits[kept].astype(np.float64) / temperature + noise)])


def _candidates(logits: Logits, temperature: float, top_p: float, top_k: int) -> NDArray[np.int64]:
    """Ids that top-k and top-p leave, ascending. Equal logits enter in order of id."""
    if top_k == 1:
        return np.asarray([greedy(logits)])
    if top_p >= 1 and (top_k <= 0 or top_k >= len(logits)):
        return np.arange(len(logits))
    order = np.argsort(-logits, kind="stable")
    if 0 < top_k < len(order):
        order = order[:top_k]
    if top_p < 1:
        scaled = logits[order].astype(np.float64) / temperature
        mass = np.cumsum(np.exp(scaled - scaled[0]))
        order = order[: int(np.searchsorted(mass, top_p * mass[-1])) + 1]
    return np.sort(order)


_MASK = (1 << 64) - 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mix(z: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
