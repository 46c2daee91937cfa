from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.measure.agreement import (
    PairCounts,
    answer_counts,
    around_divergence,
    distinct,
    divergence,
    divergence_of_pairs,
    equal_repeats,
    first_divergence,
    mean_distinct,
    merged_counts,
    modal_share,
    pair_counts,
    split_text,
    total_agreement_rate,
    whitespace_normalised,
)

COUNTS = st.lists(st.integers(0, 12), max_size=8)
TOKENS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=12)


@given(COUNTS)
def test_pair_counts_are_what_comparing_every_pair_of_answers_gives(counts: list[int]) -> None:
    answers = [output for output, count in enumerate(counts) for _ in range(count)]
    pairs = list(combinations(answers, 2))
    assert pair_counts(counts) == PairCounts(sum(a != b for a, b in pairs), len(pairs))


@given(COUNTS)
def test_pair_counts_do_not_depend_on_the_order_of_outputs(counts: list[int]) -> None:
    assert pair_counts(counts) == pair_counts(counts[::-1]) == pair_counts(np.array(counts, dtype=np.int64))


def test_divergence_is_unbiased_whatever_the_repeat_count() -> None:
    rng = np.random.default_rng(11)
    shares = np.array([0.7, 0.2, 0.1])
    truth = 1 - float((shares**2).sum())
    for repeats in (2, 5, 40):
        drawn = rng.multinomial(repeats, shares, size=20_000 // repeats + 2000)
        mean = np.mean([pair_counts(row).divergence for row in drawn])
        assert mean == pytest.approx(truth, abs=0.02), f"{repeats} repeats"


@pytest.mark.parametrize("canaries", [4, 8, 12, 25])
@pytest.mark.parametrize("repeats", [5, 20])
def test_the_interval_of_the_divergence_covers_the_mean_over_canaries_like_these(canaries: int, repeats: int) -> None:
    # six canaries of ten never differ; the others have two answers, one of them with a share of 0 to 1/2
    rng = np.random.default_rng(100 * canaries + repeats)
    truth = 0.4 * float(np.mean([2 * share * (1 - share) for share in np.linspace(0, 0.5, 1001)]))
    covered = []
    for _ in range(600):
        shares = np.where(rng.random(canaries) < 0.4, rng.random(canaries) / 2, 0)
        other = rng.binomial(repeats, shares)
        found = divergence([[repeats - count, count] for count in other.tolist()])
        assert found is not None
        covered.append(found.low <= truth <= found.high)
    assert np.mean(covered) >= 0.93


def test_one_answer_has_no_divergence_and_is_left_out() -> None:
    assert pair_counts([1]).divergence is None
    assert pair_counts([]).divergence is None
    assert divergence([[1], []]) is None
    one_and_pair = divergence([[1], [3, 1]])
    assert one_and_pair is not None
    assert (one_and_pair.value, one_and_pair.n) == (0.5, 1)


def test_nothing_differed_still_leaves_an_upper_bound_above_zero() -> None:
    few, many = divergence([[20]] * 3), divergence([[20]] * 50)
    assert few is not None
    assert many is not None
    assert few.value == few.low == many.low == 0
    assert 0 < many.high < few.high < 1


def test_divergence_from_rolled_up_pairs_is_divergence_from_counts() -> None:
    counts = [[5, 3], [8], [1, 1, 1], [1]]
    assert divergence_of_pairs(map(pair_counts, counts)) == divergence(counts)


def test_disjoint_pairs_are_half_the_answers() -> None:
    for answers in range(2, 60):
        assert pair_counts([answers]).disjoint == answers // 2


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        pair_counts([3, -1])


def test_total_agreement_counts_canaries_whose_answers_are_all_equal() -> None:
    rate = total_agreement_rate([[10], [9, 1], [10, 0], [4, 3, 3], [1]])
    assert rate is not None
    assert (rate.value, rate.n) == (0.5, 4)
    assert total_agreement_rate([[1]]) is None
    assert equal_repeats([[10], [9, 1]]) == 10
    assert equal_repeats([[10], [9]]) is None


@given(COUNTS, st.integers(0, 7))
def test_total_agreement_can_only_fall_with_another_answer(counts: list[int], output: int) -> None:
    if sum(counts) < 2:
        return
    longer = [*counts, *([0] * 8)]
    longer[output] += 1
    before, after = total_agreement_rate([counts]), total_agreement_rate([longer])
    assert before is not None
    assert after is not None
    assert after.value <= before.value


def test_an_unparsed_answer_agrees_with_nothing() -> None:
    assert sorted(answer_counts(["A", None, "A", None])) == [1, 1, 2]


def test_distinct_and_modal_share_ignore_outputs_that_did_not_occur() -> None:
    assert distinct([3, 0, 1]) == 2
    assert mean_distinct([[3, 0, 1], [4], []]) == 1.5
    assert mean_distinct([]) is None
    assert modal_share([3, 0, 1]) == 0.75
    assert modal_share([]) is None


@given(TOKENS, TOKENS)
def test_first_divergence_is_symmetric_and_marks_the_end_of_the_shared_part(a: list[str], b: list[str]) -> None:
    index = first_divergence(a, b)
    assert index == first_divergence(b, a)
    if index is None:
        assert a == b
    else:
        assert a[:index] == b[:index]
        assert a[index : index + 1] != b[index : index + 1]


def test_a_proper_prefix_parts_at_its_own_end() -> None:
    assert first_divergence("abc", "abcde") == 3
    assert first_divergence([], ["a"]) == 0
    assert first_divergence(["a"], ["a"]) is None


def test_an_unreadable_token_agrees_with_nothing() -> None:
    assert first_divergence([b"a", b"\xef\xbf\xbd"], [b"a", b"\xef\xbf\xbd"]) == 1


@given(st.text(st.characters(codec=None)))
def test_the_parts_of_a_split_text_are_the_text(text: str) -> None:
    assert "".join(split_text(text)) == text


def test_text_splits_at_words_digits_marks_and_characters_of_unspaced_scripts() -> None:
    assert split_text("Tide at 12345 cm,\n  high.") == ["Tide", " at", " 123", "45", " cm", ",", "\n ", " high", "."]
    assert split_text("潮位計 gauge") == ["潮", "位", "計", " gauge"]
    assert split_text("a\x00\ud800b") == ["a", "\x00", "\ud800", "b"]


def test_normalising_white_space_keeps_the_separator_of_tool_calls() -> None:
    assert whitespace_normalised("  a \t\n b\u00a0c ") == "a b c"
    assert whitespace_normalised("a\x1eb") == "a\x1eb"


def test_outputs_that_differ_only_in_white_space_merge() -> None:
    outputs = ["a b", "a  b", "c"]
    assert merged_counts([whitespace_normalised(text) for text in outputs], [3, 2, 1]) == [5, 1]


def test_the_neighbourhood_of_a_divergence_is_what_both_share_and_what_each_says_next() -> None:
    assert around_divergence("the tide rises", "the tide falls", 4) == (list("ide "), list("rise"), list("fall"))
    assert around_divergence("same", "same", 4) is None
