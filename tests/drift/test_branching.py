from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.branching import Branch, DistinctAnswer, tree


def one(key: str, count: int = 1, **fields: object) -> DistinctAnswer:
    return DistinctAnswer(key=key, tokens=tuple(key), count=count, **fields)  # type: ignore[arg-type]


def leaves(branch: Branch, before: tuple[object, ...] = ()) -> list[tuple[tuple[object, ...], Branch]]:
    path = before + branch.tokens
    if not branch.branches:
        return [(path, branch)]
    return [leaf for inner in branch.branches for leaf in leaves(inner, path)]


def test_one_answer_is_all_trunk() -> None:
    root = tree([one("abc", 20)])
    assert root.tokens == ("a", "b", "c")
    assert root.branches == ()
    assert root.count == 20


def test_it_branches_at_the_first_differing_token_the_commonest_first() -> None:
    root = tree([one("abx", 6), one("abyz", 13), one("abyw", 1)])
    assert root.tokens == ("a", "b")
    assert [(b.tokens, b.count) for b in root.branches] == [(("y",), 14), (("x",), 6)]
    assert [(b.tokens, b.start, b.count) for b in root.branches[0].branches] == [(("z",), 3, 13), (("w",), 3, 1)]


def test_an_answer_that_ends_where_others_go_on_is_a_branch_without_tokens() -> None:
    root = tree([one("ab", 3), one("abc", 1)])
    assert root.tokens == ("a", "b")
    assert [(b.tokens, b.count) for b in root.branches] == [((), 3), (("c",), 1)]


def test_answers_may_differ_from_their_first_token_on() -> None:
    root = tree([one("xa"), one("ya")])
    assert root.tokens == ()
    assert len(root.branches) == 2


def test_the_same_unreadable_token_in_all_answers_is_no_fork() -> None:
    root = tree([one("a\ufffdb"), one("a\ufffdc")])
    assert root.tokens == ("a", "\ufffd")
    assert [b.tokens for b in root.branches] == [("b",), ("c",)]


def test_the_margin_and_the_batches_at_the_fork() -> None:
    root = tree(
        [
            one("ab", margins=(3.0, 0.004), batch_sizes=frozenset({2, 16})),
            one("ac", margins=(3.0, 0.011), batch_sizes=frozenset({1})),
            one("ad"),
        ]
    )
    assert root.margin_at_fork == 0.004
    assert root.batch_sizes == {1, 2, 16}
    assert tree([one("ab"), one("ac")]).margin_at_fork is None


def test_no_answer_is_no_tree() -> None:
    with pytest.raises(ValueError, match="at least one"):
        tree([])


@given(st.dictionaries(st.text("ab\ufffd", max_size=8), st.integers(1, 9), min_size=1, max_size=12))
def test_every_answer_is_a_leaf_and_every_count_is_kept(counts: dict[str, int]) -> None:
    root = tree([one(text, count) for text, count in counts.items()])
    found = {"".join(map(str, path)): leaf.count for path, leaf in leaves(root)}
    assert found == counts
