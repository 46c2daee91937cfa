"""The distinct answers to one canary as a tree that branches where they first differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from drift.measure.agreement import first_divergence

Token = str | bytes


@dataclass(frozen=True, slots=True)
class DistinctAnswer:
    """One distinct output: its tokens, how many answers were this one, and what is known of how they came about.

    `margins[i]`: the usual (median) difference in nats between the two best tokens at position i over those answers.
    """

    key: str
    tokens: tuple[Token, ...]
    count: int
    margins: tuple[float | None, ...] = ()
    batch_sizes: frozenset[int] = frozenset()

    def margin_at(self, position: int) -> float | None:
        return self.margins[position] if position < len(self.margins) else None


@dataclass(frozen=True, slots=True)
class Branch:
    """Answers that agree up to `end`: the tokens from `start` to `end`, then `branches`, the commonest first.

    The first token is the one at which this branch left its siblings; a branch without tokens is an answer that ended
    where others went on.
    """

    start: int
    tokens: tuple[Token, ...]
    answers: tuple[DistinctAnswer, ...]
    branches: tuple[Branch, ...] = field(default=())

    @property
    def end(self) -> int:
        return self.start + len(self.tokens)

    @property
    def count(self) -> int:
        return sum(answer.count for answer in self.answers)

    @property
    def batch_sizes(self) -> frozenset[int]:
        return frozenset().union(*(answer.batch_sizes for answer in self.answers))

    @property
    def margin_at_fork(self) -> float | None:
        """The smallest difference between the two best tokens where the branches part; None where it is not known."""
        known = [m for answer in self.answers if (m := answer.margin_at(self.end)) is not None]
        return min(known) if known else None


def tree(answers: Sequence[DistinctAnswer]) -> Branch:
    """The tree of distinct answers. Its root holds what all of them share. Raises ValueError without an answer."""
    if not answers:
        raise ValueError("a tree needs at least one answer")
    return _grow(tuple(answers), start=0)


def _grow(answers: tuple[DistinctAnswer, ...], start: int) -> Branch:
    end = _agree_until(answers, start)
    groups = _next_tokens(answers, end)
    while len(groups) == 1 and None not in groups:  # the same unreadable token in all: nothing to see branching
        end = _agree_until(answers, end + 1)
        groups = _next_tokens(answers, end)
    trunk = answers[0].tokens[start:end]
    if set(groups) == {None}:
        return Branch(start, trunk, answers)
    branches = [_branch(tuple(group), token, end) for token, group in groups.items()]
    branches.sort(key=lambda branch: -branch.count)
    return Branch(start, trunk, answers, tuple(branches))


def _next_tokens(answers: tuple[DistinctAnswer, ...], position: int) -> dict[Token | None, list[DistinctAnswer]]:
    groups: dict[Token | None, list[DistinctAnswer]] = {}
    for answer in answers:
        groups.setdefault(answer.tokens[position] if position < len(answer.tokens) else None, []).append(answer)
    return groups


def _branch(group: tuple[DistinctAnswer, ...], token: Token | None, start: int) -> Branch:
    if token is None:
        return Branch(start, (), group)
    rest = _grow(group, start + 1)
    return Branch(start, (token, *rest.tokens), group, rest.branches)


def _agree_until(answers: tuple[DistinctAnswer, ...], start: int) -> int:
    first = answers[0].tokens[start:]
    partings = [first_divergence(first, other.tokens[start:]) for other in answers[1:]]
    return start + min((parting for parting in partings if parting is not None), default=len(first))
