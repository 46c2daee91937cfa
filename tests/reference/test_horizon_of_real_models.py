"""Free-text answers at temperature 0 (llm-stability, Apache-2.0): where they part and how long they agree.

Items were repeated adaptively there, so shares over these answers are not unbiased rates; positions are what counts.
"""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from time import perf_counter

import numpy as np
import pytest

from drift.measure.agreement import divergence, split_text, total_agreement_rate
from drift.measure.horizon import AgreementLengths, agreement_lengths, horizon
from tests.reference.published import MADE, published


def answers_of(lines: Iterable[str]) -> dict[str, dict[int, Counter[str]]]:
    models: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for line in lines:
        row = json.loads(line)
        models[row["model"]][row["item"]][row["text"]] += 1
    return models


def lengths_of(items: dict[int, Counter[str]]) -> list[AgreementLengths]:
    repeated = [counts for counts in items.values() if counts.total() >= 2]
    return [agreement_lengths([split_text(text) for text in counts], list(counts.values())) for counts in repeated]


@pytest.fixture(scope="module")
def models() -> dict[str, dict[int, Counter[str]]]:
    with gzip.open(published("greedy_repeats.jsonl.gz"), "rt", encoding="utf-8") as file:
        return answers_of(file)


def named(models: dict[str, dict[int, Counter[str]]], part: str) -> dict[int, Counter[str]]:
    (name,) = [model for model in models if part in model]
    return models[name]


def test_four_models_are_in_the_data(models: dict[str, dict[int, Counter[str]]]) -> None:
    assert len(models) == 4


def test_gpt_4o_never_repeats_its_answers_and_two_models_always_do(models: dict[str, dict[int, Counter[str]]]) -> None:
    unanimous = {}
    for part in ("gpt-4o", "llama3-70b", "gpt-35", "mixtral"):
        counts = [list(answers.values()) for answers in named(models, part).values()]
        rate, apart = total_agreement_rate(counts), divergence(counts)
        assert rate is not None
        assert apart is not None
        assert apart.value <= 1 - rate.value + 1e-9
        unanimous[part] = (round(rate.value * rate.n), rate.n)
    # gpt-3.5's items were repeated until an answer differed, hence its 5 of 26
    assert unanimous == {"gpt-4o": (0, 100), "llama3-70b": (53, 53), "gpt-35": (5, 26), "mixtral": (19, 19)}


def test_horizons_are_a_word_or_two_where_answers_part_and_at_least_hundreds_where_they_do_not(
    models: dict[str, dict[int, Counter[str]]],
) -> None:
    for part, seen in (("gpt-4o", True), ("gpt-35", True), ("llama3-70b", False), ("mixtral", False)):
        limit = horizon(lengths_of(named(models, part)), np.random.default_rng(0))
        assert limit is not None
        assert limit.low is not None
        assert limit.limit_seen == seen
        assert limit.length < 40 if seen else limit.length > 400
        assert limit.low <= limit.length


def test_all_pairs_of_all_answers_are_compared_within_a_second(models: dict[str, dict[int, Counter[str]]]) -> None:
    began = perf_counter()
    pairs = sum(entry.pairs for items in models.values() for entry in lengths_of(items))
    assert pairs > 5000
    assert perf_counter() - began < 5, "a second on an idle machine"


def test_the_made_sample_has_the_horizon_counted_by_hand() -> None:
    items = answers_of((MADE / "repeats.jsonl").read_text().splitlines())["made"]
    found = horizon(lengths_of(items), np.random.default_rng(0))
    assert found is not None
    # item 2 parts in 8 of 15 pairs at its fifth word, so a quarter of that is lost there: 1 - 8/60 < 0.95
    assert (found.length, found.limit_seen, found.canaries, found.pairs) == (4, True, 4, 60)
