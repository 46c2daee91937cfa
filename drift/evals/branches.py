"""The answers to one case, told apart and laid out as a tree that branches where they first differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drift.branching import Branch, DistinctAnswer, Token, tree
from drift.display import visible
from drift.evals.answers import Answer
from drift.measure.agreement import split_text

LONGEST = 600  # characters of a branch that a page shows; the whole answer is one link away


@dataclass(frozen=True, slots=True)
class Fork:
    """One branch: how many answers went there and how many of those passed, its first differing token, the rest.

    `margin`: nats between the two best tokens where it parted, None where not known. `score` None: none was scored.
    """

    count: int
    of: int
    first: str
    rest: str
    position: int
    ended: bool
    margin: float | None
    score: float | None
    links: tuple[str, ...]
    forks: tuple[Fork, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """`trunk`: what all share. `forks` empty: all are the same. `tokens_known`: positions are real tokens."""

    trunk: str
    shared: int
    answers: int
    distinct: int
    tokens_known: bool
    margin: float | None
    forks: tuple[Fork, ...]


def tree_of(answers: Sequence[Answer]) -> Tree | None:
    """None where no answer has a text."""
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        if answer.text is not None:
            groups.setdefault(answer.text, []).append(answer)
    if not groups:
        return None
    known = all(any(answer.tokens for answer in group) for group in groups.values())
    root = tree([_distinct(text, group, known) for text, group in groups.items()])
    total = sum(len(group) for group in groups.values())
    return Tree(
        trunk=_shown(root.tokens, tail=True),
        shared=root.end,
        answers=total,
        distinct=len(groups),
        tokens_known=known,
        margin=root.margin_at_fork,
        forks=tuple(_fork(branch, total, groups, root.margin_at_fork) for branch in root.branches),
    )


def _distinct(text: str, group: Sequence[Answer], known: bool) -> DistinctAnswer:
    tokens: tuple[Token, ...] = tuple(split_text(text))
    margins: list[float | None] = []
    if known:
        tokens = next(answer.tokens for answer in group if answer.tokens)
        for position in range(len(tokens)):
            here = [m for a in group if position < len(a.margins) and (m := a.margins[position]) is not None]
            margins.append(min(here) if here else None)
    sizes = frozenset[int]().union(*(answer.batch_sizes for answer in group))
    return DistinctAnswer(text, tokens, len(group), tuple(margins), sizes)


def _fork(branch: Branch, of: int, groups: dict[str, list[Answer]], margin: float | None) -> Fork:
    answers = [answer for distinct in branch.answers for answer in groups[distinct.key]]
    scores = [answer.score for answer in answers if answer.score is not None]
    return Fork(
        count=branch.count,
        of=of,
        first=_shown(branch.tokens[:1]),
        rest=_shown(branch.tokens[1:]),
        position=branch.start + 1,
        ended=not branch.tokens,
        margin=margin,
        score=sum(scores) / len(scores) if scores else None,
        links=tuple(answer.link for answer in answers if answer.link),
        forks=tuple(_fork(inner, of, groups, branch.margin_at_fork) for inner in branch.branches),
    )


def _shown(tokens: Sequence[Token], tail: bool = False) -> str:
    """Tokens as safe text, cut to what fits; `tail`: the end is the interesting part."""
    raw = b"".join(token if isinstance(token, bytes) else token.encode("utf-8", "replace") for token in tokens)
    text = visible(raw.decode("utf-8", "replace"))
    if len(text) <= LONGEST:
        return text
    return "… " + text[-LONGEST:] if tail else text[:LONGEST] + " …"
