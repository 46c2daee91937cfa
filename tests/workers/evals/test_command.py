"""The gate: a run from the command line, its figures and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.core.management import call_command

from drift.models import EvalRun, EvalVersion
from tests.workers.evals.conftest import Reply


@pytest.fixture(autouse=True)
def loopback(settings) -> None:
    settings.ALLOW_PRIVATE_TARGETS = ["127.0.0.0/8"]


def gate(*arguments: str) -> int:
    try:
        call_command("evalrun", *arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.fixture
def arms(chat, endpoint_at, version) -> None:
    endpoint_at(chat(Reply("yes")).url, "good")
    endpoint_at(chat(Reply("no")).url, "bad")
    endpoint_at(chat(lambda body, n: Reply("yes" if n % 3 else "no")).url, "shaky")
    endpoint_at(chat(Reply("yes")).url, "twin")


def test_exit_codes_follow_the_first_arm(arms) -> None:
    assert gate("Six questions", "--arm", "bad", "--arm", "good", "--repeats", "3") == 1
    assert gate("Six questions", "--arm", "good", "--arm", "bad", "--repeats", "3") == 0
    assert gate("Six questions", "--arm", "good", "--arm", "twin", "--repeats", "3") == 3, "six cases prove little"
    same = ("--scope", "these", "--margin", "20", "--repeats", "5")
    assert gate("Six questions", "--arm", "good", "--arm", "twin", *same) == 0, "equivalent on exactly these cases"


def test_a_changed_identity_is_void(chat, endpoint_at, version) -> None:
    endpoint_at(chat(lambda body, n: Reply("yes", fingerprint=f"fp_{n % 2}")).url, "flapping")
    endpoint_at(chat(Reply("no")).url, "steady")
    assert gate("Six questions", "--arm", "flapping", "--arm", "steady", "--repeats", "2") == 4


def test_json_and_junit_say_the_same(arms, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "eval.xml"
    code = gate(
        "Six questions", "--arm", "new=bad", "--arm", "old=good", "--repeats", "2", "--json", "--junit", str(file)
    )
    said = json.loads(capsys.readouterr().out)
    assert said["exit_code"] == code == 1
    assert said["comparisons"][0]["verdict"] == "worse"
    assert [arm["name"] for arm in said["arms"]] == ["new", "old"]
    assert ElementTree.parse(file).getroot().get("failures") == "1"
    assert EvalRun.objects.get().state == "finished"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("No such set", "--arm", "good"), "There are: Six questions"),
        (("Six questions", "--arm", "nobody"), "There are: bad, good, shaky, twin"),
        (("Six questions", "--arm", "good", "--cost-cap", "1"), "--token-cap"),
        (("Six questions", "--arm", "good", "--repeats", "500"), "1 to 100"),
        (("Six questions", "--arm", "good", "--template", "other=x"), "x"),
    ],
)
def test_usage_errors_say_what_there_is(arms, arguments, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate(*arguments) == 2
    assert words in capsys.readouterr().err
    assert not EvalRun.objects.exists()


def test_a_cap_ends_with_not_finished(arms) -> None:
    assert gate("Six questions", "--arm", "good", "--repeats", "5", "--token-cap", "30") == 5


def test_import_and_run_from_files_alone(chat, endpoint_at, team, tmp_path: Path) -> None:
    endpoint_at(chat(Reply("It is 4.")).url, "good")
    cases = tmp_path / "sums.jsonl"
    cases.write_text('{"input": "2 + 2?", "target": "4"}\n{"input": "1 + 3?", "target": "4"}\n')
    call_command("evalimport", str(cases), "Sums", "--grader", '{"kind": "number"}')
    assert EvalVersion.objects.get().cases.count() == 2
    assert gate("Sums", "--arm", "good", "--repeats", "2") == 0
    cases.write_text('{"input": "javascript:alert(1)", "target": "4"}\n')
    with pytest.raises(SystemExit):
        call_command("evalimport", str(cases), "Sums")
    assert EvalVersion.objects.count() == 1
