"""How far answers to one canary disagree.

Everything starts from *counts*: how often each distinct output of one canary occurred. Answers are compared once, when
outputs are told apart by hash, so thousands of long answers cost no more than their counts.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isqrt
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from drift.measure.intervals import Estimate, wilson, wilson_of_few_units

T = TypeVar("T")
Counts: TypeAlias = Sequence[int] | NDArray[np.int64]

# A replacement character alone: the server lost the token's bytes, so two of them need not be the same token.
UNKNOWN_TOKENS = frozenset({"\ufffd", b"\xef\xbf\xbd"})


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Unordered pairs of answers to one canary, and how many of them differ."""

    differing: int
    total: int

    @property
    def divergence(self) -> float | None:
        """P(two answers differ), unbiased. None where there is no pair."""
        return self.differing / self.total if self.total else None

    @property
    def disjoint(self) -> int:
        """Pairs that share no answer: floor(N / 2) of the N answers behind `total` = N(N - 1)/2."""
        return (1 + isqrt(1 + 8 * self.total)) // 4 if self.total else 0


def pair_counts(counts: Counts) -> PairCounts:
    """Differing and total pairs from the multiplicities of one canary's distinct outputs.

    total = N(N - 1)/2, differing = (N^2 - sum c^2)/2 with N = sum c. Their ratio is the U-statistic of
    1{output_i != output_j}: unbiased for any N, so series with other repeat counts compare (TARr@N does not).
    """
    sizes = [int(count) for count in counts]
    if any(size < 0 for size in sizes):
        raise ValueError(f"counts cannot be negative: {sizes}")
    answers = sum(sizes)
    same = sum(size * size for size in sizes)
    return PairCounts(differing=(answers * answers - same) // 2, total=answers * (answers - 1) // 2)


def divergence(per_canary_counts: Iterable[Counts]) -> Estimate | None:
    """Mean over canaries of P(two answers to the canary differ), each canary weighing the same.

    Canaries without a pair are left out; None if none is left. The canary is the unit of the interval
    (`wilson_of_few_units`): it speaks about prompts like these, so it stays wide with few canaries however often each
    was repeated, and its upper end is above 0 when nothing differed. `n` is the number of canaries.
    """
    return divergence_of_pairs([pair_counts(counts) for counts in per_canary_counts])


def divergence_of_pairs(per_canary: Iterable[PairCounts]) -> Estimate | None:
    """`divergence` where the pairs were already counted, as in rollups."""
    known = [pairs for pairs in per_canary if pairs.total]
    shares = [pairs.differing / pairs.total for pairs in known]
    return wilson_of_few_units(shares, total=sum(pairs.disjoint for pairs in known))


def total_agreement_rate(per_canary_counts: Iterable[Counts]) -> Estimate | None:
    """TARr@N (of raw outputs) or TARa@N (of parsed answers): the share of canaries whose N answers are all the same.

    Canaries with fewer than two answers are left out; interval: Wilson over canaries. It can only fall with N, so
    compare it at equal N (`equal_repeats`). Source: Atil et al., arXiv:2408.04667.
    """
    totals = [pairs for pairs in map(pair_counts, per_canary_counts) if pairs.total]
    return wilson(sum(pairs.differing == 0 for pairs in totals), len(totals))


def equal_repeats(per_canary_counts: Iterable[Counts]) -> int | None:
    """The N of a TAR@N: answers per canary, or None where canaries differ in it."""
    repeats = {int(sum(counts)) for counts in per_canary_counts}
    return repeats.pop() if len(repeats) == 1 else None


def answer_counts(answers: Iterable[Hashable | None]) -> list[int]:
    """Multiplicities of parsed answers for TARa. None (no or no unique answer) agrees with nothing, as published."""
    seen: dict[Hashable, int] = {}
    unparsed = 0
    for answer in answers:
        if answer is None:
            unparsed += 1
        else:
            seen[answer] = seen.get(answer, 0) + 1
    return [*seen.values(), *([1] * unparsed)]


def distinct(counts: Counts) -> int:
    """Distinct outputs of one canary."""
    return sum(1 for count in counts if count > 0)


def mean_distinct(per_canary_counts: Iterable[Counts]) -> float | None:
    """Mean number of distinct outputs over canaries with an answer. Grows with N: compare at equal N."""
    sizes = [size for size in map(distinct, per_canary_counts) if size]
    return sum(sizes) / len(sizes) if sizes else None


def modal_share(counts: Counts) -> float | None:
    """Share of the commonest output among one canary's answers."""
    sizes = [int(count) for count in counts]
    return max(sizes) / sum(sizes) if sum(sizes) else None


def first_divergence(a: Sequence[T], b: Sequence[T]) -> int | None:
    """Index of the first token at which two answers are not known to agree; None if they are equal.

    0-based, so it is also the number of leading tokens they share. Where one is a proper prefix of the other they part
    at the shorter one's length. A lone U+FFFD is an unknown token and agrees with nothing (`UNKNOWN_TOKENS`).
    Pairwise `Div_Index` of Yuan et al., arXiv:2506.09501.
    """
    for index, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right or left in UNKNOWN_TOKENS:
            return index
    return None if len(a) == len(b) else min(len(a), len(b))


_APPROXIMATE_TOKEN = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
    r"| ?[^\W\d_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff]+"
    r"| ?\d{1,3}"
    r"| ?[^\w\s]"
    r"|\s+(?= )"  # the last space of a run belongs to the word after it
    r"|\s+"
    r"|.",
    re.DOTALL,
)


def split_text(text: str) -> list[str]:
    """Approximate tokens, for answers whose real tokens are unknown; their concatenation is the text.

    A word with the space before it, up to three digits, one punctuation mark, a run of white space, or one character
    of a script written without spaces (Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer). English text has about
    as many of these as a model has tokens; positions on this axis are not positions on the token axis, so say which.
    """
    return _APPROXIMATE_TOKEN.findall(text)


# \x1c to \x1f are separators between parts of a compared value, not white space of an answer
_WHITE_SPACE = re.compile(r"[^\S\x1c-\x1f]+")


def whitespace_normalised(text: str) -> str:
    """The text with each run of white space as one space and none at the ends."""
    return _WHITE_SPACE.sub(" ", text).strip(" ")


def merged_counts(keys: Sequence[Hashable], counts: Counts) -> list[int]:
    """Counts after outputs with the same key were merged, in order of first appearance.

    With `whitespace_normalised(text)` as keys this turns raw counts into counts that ignore formatting.
    """
    merged: dict[Hashable, int] = {}
    for key, count in zip(keys, counts, strict=True):
        merged[key] = merged.get(key, 0) + int(count)
    return list(merged.values())


def around_divergence(a: Sequence[T], b: Sequence[T], context: int) -> tuple[list[T], list[T], list[T]] | None:
    """The `context` tokens both share before they part, then what each says next; None if they are equal."""
    index = first_divergence(a, b)
    if index is None:
        return None
    stop = index + context
    return list(a[max(0, index - context) : index]), list(islice(a, index, stop)), list(islice(b, index, stop))
