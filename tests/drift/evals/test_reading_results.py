"""Results made elsewhere, in each format: scores, repeats, and what is unscored."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evals.command import read_table
from drift.evals.errors import EvalError, FileError
from drift.evals.report import report
from drift.evals.results import Columns, inspect_log, read, recognise
from tests.reference.published import published


def inspect_file(samples: list[dict[str, Any]], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "openai/gpt-x", "task": "t"}}))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return buffer.getvalue()


def test_an_inspect_log() -> None:
    data = inspect_file(
        [
            {
                "id": 1,
                "epoch": 1,
                "input": "q",
                "target": "a",
                "scores": {"match": {"value": "C", "answer": "a"}},
                "output": {"completion": "a"},
            },
            {
                "id": 1,
                "epoch": 2,
                "input": "q",
                "target": "a",
                "scores": {"match": {"value": "I"}},
                "output": {"completion": "b"},
            },
            {
                "id": 2,
                "epoch": 1,
                "input": [{"role": "user", "content": "q2"}],
                "target": ["a"],
                "scores": {"match": {"value": "P"}},
            },
            {
                "id": 2,
                "epoch": 2,
                "input": "q2",
                "target": "a",
                "scores": {},
                "error": {"message": "the provider was down"},
            },
        ]
    )
    found = read("log.eval", data)
    assert [arm.name for arm in found.arms] == ["openai/gpt-x"]
    first, second = found.arms[0].cases
    assert first.scores == [1.0, 0.0]
    assert second.scores == [0.5], "an error is unscored, never a fail"
    assert second.answers[1].why == "the provider was down"
    assert second.question == "q2"


def test_a_zip_that_lies_or_unfolds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = inspect_file([{"id": 1, "epoch": 1, "pad": "x" * 100_000}])
    monkeypatch.setattr(inspect_log, "LARGEST_MEMBER", 10_000)
    with pytest.raises(FileError, match="larger"):
        read("log.eval", data)
    monkeypatch.setattr(inspect_log, "LARGEST_TOTAL", 10_000)
    with pytest.raises(FileError, match="too much"):
        read("log.eval", data)
    with pytest.raises(FileError, match="not a zip"):
        read("log.eval", b"PK\x03\x04nothing")


def test_lm_eval_samples() -> None:
    rows = [
        {
            "doc_id": 0,
            "doc": {"question": "2+2"},
            "target": "4",
            "resps": [["4", "5"]],
            "filter": "strict",
            "exact_match": 1.0,
            "metrics": ["exact_match"],
            "prompt_hash": "aa",
        },
        {
            "doc_id": 1,
            "doc": {},
            "target": "5",
            "resps": [["5"]],
            "filter": "strict",
            "exact_match": 0.0,
            "metrics": ["exact_match"],
            "prompt_hash": "bb",
        },
    ]
    found = read("samples_t.jsonl", "\n".join(map(json.dumps, rows)).encode())
    assert found.arms[0].name == "strict"
    assert [case.scores for case in found.arms[0].cases] == [[1.0], [0.0]]
    assert found.arms[0].cases[0].prompt_digest == "aa"
    assert "hold several responses" in found.notes[1]


def test_promptfoo_results() -> None:
    def row(success: bool, output: str | None, error: str | None = None, provider: str = "openai:x") -> dict[str, Any]:
        response = {"output": output} if output is not None else {"error": error}
        return {
            "success": success,
            "vars": {"q": "hi"},
            "prompt": {"raw": "Say hi"},
            "response": response,
            "error": error,
            "provider": {"id": provider},
        }

    rows = [row(True, "hi"), row(False, "no", "Expected output to contain hi"), row(False, None, "429 slow down")]
    data = json.dumps({"results": {"results": rows}}).encode()
    assert recognise("results.json", data) == "promptfoo"
    case = read("results.json", data).arms[0].cases[0]
    assert case.scores == [1.0, 0.0]
    assert case.answers[2].score is None
    assert case.answers[2].why == "429 slow down"
    assert [answer.round for answer in case.answers] == [1, 2, 3]


def test_a_long_table_numbers_rounds_from_one() -> None:
    found = read("r.csv", b"item_id,model,score,epoch\na,m,1,1\na,m,0,0\nb,m,true,0\nb,m,,1\n")
    first, second = found.arms[0].cases
    assert [(answer.round, answer.score) for answer in first.answers] == [(1, 0.0), (2, 1.0)]
    assert second.scores == [1.0]


def test_scores_outside_the_range_and_unknown_columns_are_named() -> None:
    with pytest.raises(FileError, match="line 3: the score 87 is not between 0 and 1"):
        read("r.csv", b"item_id,score\na,1\nb,87\n")
    with pytest.raises(EvalError, match="It has: x, y"):
        read("r.csv", b"x,y\n1,2\n")


def test_a_table_of_answers_is_graded_by_what_fits_and_says_so() -> None:
    found = read_table(
        "r.csv", b'item,response,target,run\na,"{""Answer"":""B""}",(B),0\na,"{""Answer"":""C""}",(B),1\n'
    )
    assert found.arms[0].cases[0].scores == [1.0, 0.0]
    assert found.notes == ('graded here by {"kind": "choice", "json_field": "Answer"}',)
    with pytest.raises(EvalError, match="asks nobody"):
        read(
            "r.csv",
            b"item,response,target\na,b,c\n",
            Columns("item", answer="response", target="target", grader={"kind": "model_graded"}),
        )


@given(st.binary(max_size=300), st.sampled_from(["a.eval", "a.csv", "a.jsonl", "a.json"]))
def test_no_file_does_worse_than_an_error_in_words(data: bytes, name: str) -> None:
    try:
        read(name, data)
    except EvalError as error:
        if not str(error):
            raise


@pytest.fixture(scope="module")
def strict_json() -> Any:
    path = published("gpt4o_t0_strict_json.csv")
    return read_table(path.name, path.read_bytes())


def test_published_answers_graded_from_the_raw_text_give_the_published_counts(strict_json: Any) -> None:
    expected = {
        "navigate": [186, 187, 184, 183, 191],
        "college_mathematics": [45, 52, 48, 45, 43],
        "high_school_european_history": [149, 147, 151, 150, 147],
        "logical_deduction": [229, 231, 232, 234, 230],
        "professional_accounting": [206, 206, 213, 214, 215],
        "public_relations": [85, 82, 89, 83, 88],
        "ruin_names": [227, 226, 224, 228, 228],
    }
    parts = strict_json.arms[0].subsets
    right = sum(
        int(ours == theirs)
        for task, counts in expected.items()
        for ours, theirs in zip(np.nansum(parts[task].rounds(), axis=0), counts, strict=True)
    )
    assert right >= 34, f"{right} of 35 run accuracies agree"


def test_published_agreement_and_bounds_of_navigate(strict_json: Any) -> None:
    navigate = next(part for part in report(strict_json.arms[0]).parts if part.name == "navigate")
    assert navigate.raw_agreement == pytest.approx(0.60, abs=5e-4)
    assert (navigate.best, navigate.worst) == (232, 132)
