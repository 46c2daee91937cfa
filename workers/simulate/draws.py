"""Randomness that is a function of its key: the same scenario, seed and request always give the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

Key = str | int | float


def draw(*key: Key) -> float:
    """A number in [0, 1), uniform over keys."""
    digest = blake2b("\x1f".join(map(str, key)).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def pick(weights: Sequence[float], *key: Key) -> int:
    """An index, each as likely as its weight."""
    at = draw(*key) * sum(weights)
    for index, weight in enumerate(weights):
        at -= weight
        if at < 0:
            return index
    return len(weights) - 1


def hexadecimal(digits: int, *key: Key) -> str:
    """That many hexadecimal digits."""
    return blake2b("\x1f".join(map(str, key)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()[:digits]
