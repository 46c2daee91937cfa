"""Answers recorded elsewhere: read in every form, refused with a line, and the published file as four models."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from drift.checkup import recorded, store
from drift.checkup.errors import CheckupError
from drift.checkup.recorded import bring_in, read
from drift.checkup.side_by_side import side_by_side
from drift.evals.errors import FileError
from drift.models import Checkup, CheckupAnswer, Team, User
from tests.reference.published import published

MADE = Path(__file__).with_name("recorded.jsonl")


def test_the_made_file_has_the_figures_counted_by_hand(team: Team, alice: User) -> None:
    loose, exact = bring_in(team, alice, "recorded.jsonl", MADE.read_bytes())
    assert (loose.name, exact.name) == ("loose", "exact")
    assert loose.group == exact.group
    report = store.report_of(loose)
    assert report is not None
    assert report.quiet is not None
    # items 1, 3 and 5: runs 1 and 3 of five differ from the rest, so 6 of 10 pairs
    assert (report.quiet.pairs, report.quiet.pairs_differing) == (60, 18)
    assert report.quiet.divergence is not None
    assert report.quiet.divergence.value == pytest.approx(0.3)
    assert report.quiet.total_agreement is not None
    assert report.quiet.total_agreement.value == 0.5
    assert report.quiet.equal_n == 5
    assert [(one.label, one.answers) for one in report.identities.names] == [("fp_a", 18), ("fp_b", 12)]
    assert report.recorded
    assert loose.started_at is not None
    assert loose.started_at.year == 2026
    same = store.report_of(exact)
    assert same is not None
    assert same.quiet is not None
    assert same.quiet.pairs_differing == 0


def test_csv_gzip_and_missing_columns_are_read() -> None:
    text = "item,text\nq1,yes\nq1,no\nq2,\n"
    (one,) = read("answers.csv.gz", gzip.compress(text.encode()))
    assert one.model == "not named"
    assert [(item, run) for item, run, _, _ in one.answers] == [("q1", 0), ("q1", 1), ("q2", 0)]
    assert one.answers[2][3].outcome == "empty"


def test_tokens_and_logprobs_are_taken_where_given() -> None:
    row = {"model": "m", "item": 1, "run": 3, "text": "a b", "tokens": ["a", " b"], "logprobs": [-0.1, None]}
    (one,) = read("x.jsonl", json.dumps(row).encode())
    item, run, _, decoded = one.answers[0]
    assert (item, run) == ("1", 3)
    assert decoded.tokens is not None
    assert [(token.text, token.logprob) for token in decoded.tokens] == [(b"a", -0.1), (b" b", None)]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"model": "a", "item": 1}\n', "no answer"),
        (b'{"model": "a", "text": "x"}\n', "no item"),
        (b'{"item": 1, "text": "x", "tokens": 3}\n', "lists"),
        (b'{"item": 1, "text": "x", "time": "yesterday"}\n', "not a time"),
        (b"{nothing", "JSON"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"\x1f\x8bnot gzip", "unpacked"),
        (b"item,text\n", "no answer"),
    ],
)
def test_what_cannot_be_read_says_where_and_keeps_nothing(team: Team, data: bytes, said: str) -> None:
    with pytest.raises(CheckupError, match=said):
        bring_in(team, None, "answers", data)
    assert not Checkup.objects.exists()


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "LARGEST_FILE", 1000)
    with pytest.raises((CheckupError, FileError), match="larger"):
        read("x.jsonl.gz", gzip.compress(b" " * 100_000))


def test_the_published_answers_come_out_as_a_comparison_of_four_models(team: Team) -> None:
    made = bring_in(team, None, "greedy_repeats.jsonl.gz", published("greedy_repeats.jsonl.gz").read_bytes())
    assert len(made) == 4
    reports = [store.report_of(one) for one in made]
    view = side_by_side([one for one in reports if one is not None])
    columns = {one.name.split("_")[0].split("-8x")[0]: one for one in view.columns}
    assert columns["gpt-4o"].total_agreement is not None
    assert columns["gpt-4o"].total_agreement.value == 0
    assert columns["gpt-4o"].rank == (4, 4)
    for steady in ("llama3-70b", "mixtral"):
        assert columns[steady].total_agreement is not None
        assert columns[steady].total_agreement.value == 1
        assert (columns[steady].horizon or 0) > 400
    assert view.adaptive
    assert CheckupAnswer.objects.count() > 1500


def test_the_command_brings_a_file_in_and_compares(team: Team, alice: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("importanswers", str(MADE), "--team", team.name)
    said = capsys.readouterr().out
    assert "loose" in said
    assert "exact" in said
    assert Checkup.objects.count() == 2
