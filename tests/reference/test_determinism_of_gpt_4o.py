"""Answers of gpt-4o at temperature 0 (llm-stability, Apache-2.0): agreement figures exactly as published."""

import ast
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from drift.measure.agreement import answer_counts, divergence, equal_repeats, mean_distinct, total_agreement_rate
from tests.reference.published import MADE, published, rows_of

# task: (questions, correct per run, TARr %, TARa % where published)
PUBLISHED = {
    "navigate": (250, [186, 187, 184, 183, 191], 60.0, 60.0),
    "college_mathematics": (100, [45, 52, 48, 45, 43], 45.0, 47.0),
    "high_school_european_history": (165, [149, 147, 151, 150, 147], 92.7, None),
    "logical_deduction": (250, [229, 231, 232, 234, 230], 89.2, None),
    "professional_accounting": (282, [206, 206, 213, 214, 215], 63.8, 64.2),
    "public_relations": (110, [85, 82, 89, 83, 88], 77.3, None),
    "ruin_names": (250, [227, 226, 224, 228, 228], 91.6, None),
}


def answer_of(response: str) -> str | None:
    try:
        return str(json.loads(response)["Answer"]).strip("() ")
    except (ValueError, KeyError, TypeError):
        return None


def by_task(path: Path) -> dict[str, dict[str, list[dict[str, str]]]]:
    tasks: dict[str, dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows_of(path):
        tasks[row["task"]][row["item"]].append(row)
    return tasks


def figures(items: dict[str, list[dict[str, str]]]) -> tuple[float, float, list[int], int, int]:
    raw = [list(Counter(row["response"] for row in rows).values()) for rows in items.values()]
    parsed = [answer_counts([answer_of(row["response"]) for row in rows]) for rows in items.values()]
    passed = [
        [
            answer_of(row["response"]) == row["target"].strip("() ")
            for row in sorted(rows, key=lambda row: int(row["run"]))
        ]
        for rows in items.values()
    ]
    tar_r, tar_a = total_agreement_rate(raw), total_agreement_rate(parsed)
    assert tar_r is not None
    assert tar_a is not None
    assert equal_repeats(raw) == 5
    correct = [sum(runs) for runs in zip(*passed, strict=True)]
    return 100 * tar_r.value, 100 * tar_a.value, correct, sum(map(any, passed)), sum(map(all, passed))


@pytest.mark.parametrize("task", PUBLISHED)
def test_total_agreement_and_accuracies_of_the_strict_json_runs_are_the_published_ones(task: str) -> None:
    items = by_task(published("gpt4o_t0_strict_json.csv"))[task]
    questions, accuracies, tar_r, tar_a = PUBLISHED[task]
    found_r, found_a, correct, best, worst = figures(items)
    assert len(items) == questions
    assert round(found_r, 1) == tar_r
    if tar_a is not None:
        # unparsable answers were counted another way there: two of the seven tasks are off by at most two questions
        assert found_a == pytest.approx(tar_a, abs=100 * 2 / questions + 0.05)
    off = [abs(ours - theirs) for ours, theirs in zip(correct, accuracies, strict=True)]
    assert sum(off) <= (1 if task == "professional_accounting" else 0)
    if task == "navigate":
        assert (best, worst) == (232, 132)


def test_the_made_sample_has_the_figures_counted_by_hand() -> None:
    found_r, found_a, correct, best, worst = figures(by_task(MADE / "answers.csv")["made"])
    assert found_r == pytest.approx(100 * 3 / 8)  # items 0, 2, 4; item 6 differs in white space only
    assert found_a == pytest.approx(100 * 4 / 8)  # and item 6
    assert correct == [7, 7, 7, 6, 8]
    assert (best, worst) == (8, 4)


def test_divergence_orders_the_tasks_as_total_agreement_does_and_bounds_it() -> None:
    tasks = by_task(published("gpt4o_t0_strict_json.csv"))
    for items in tasks.values():
        counts = [list(Counter(row["response"] for row in rows).values()) for rows in items.values()]
        pairwise, total, distinct = divergence(counts), total_agreement_rate(counts), mean_distinct(counts)
        assert pairwise is not None
        assert total is not None
        assert distinct is not None
        # a case that is not unanimous differs in 4 to 10 of its 10 pairs
        assert 0.4 * (1 - total.value) - 1e-9 <= pairwise.value <= 1 - total.value + 1e-9
        assert pairwise.low < pairwise.value < pairwise.high


def test_the_published_table_of_114_configurations_reads_as_its_authors_report() -> None:
    rows = rows_of(published("llm_stability_v3.csv"))
    assert len(rows) == 114
    counts = [ast.literal_eval(row["correct_count_per_run"]) for row in rows]
    questions = [int(row["num_questions"]) for row in rows]
    gaps = [100 * (max(c) - min(c)) / n for c, n in zip(counts, questions, strict=True)]
    spreads = [
        100 * (int(row["best_possible_count"]) - int(row["worst_possible_count"])) / n
        for row, n in zip(rows, questions, strict=True)
    ]
    assert max(gaps) == pytest.approx(15.0)
    assert max(spreads) == pytest.approx(72.0)
    for row, spread in zip(rows, spreads, strict=True):
        assert float(row["spread"].rstrip("%")) == pytest.approx(spread, abs=0.06)
        for count, rate in (("TACr", "TARr"), ("TACa", "TARa")):
            # the rate, rebuilt from counts of unanimous questions
            unanimous = int(row[count])
            rebuilt = total_agreement_rate([[10]] * unanimous + [[9, 1]] * (int(row["num_questions"]) - unanimous))
            assert rebuilt is not None
            assert 100 * rebuilt.value == pytest.approx(float(row[rate].rstrip("%")), abs=0.06)
    hardest = [
        row
        for row in rows
        if row["model"] == "gpt-4o" and row["task"] == "college_mathematics" and "'shots': 0" in row["task_config"]
    ]
    assert ("0.0%", "50.0%") in [(row["TARr"], row["TARa"]) for row in hardest]
