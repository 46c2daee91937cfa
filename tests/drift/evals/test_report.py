"""What reports and comparisons say, in figures, sentences, files and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from drift.evals import gate, standalone, terminal, words
from drift.evals.answers import Answer, ArmAnswers, CaseAnswers, Results
from drift.evals.branches import tree_of
from drift.evals.command import main
from drift.evals.comparison import compare, compare_all
from drift.evals.outlook import expected, outlook
from drift.evals.report import report
from drift.measure.evals.scopes import Scope
from drift.measure.paired import NO_PILOT, DifferenceNoise, Verdict, smallest_difference

ROOT = Path(__file__).resolve().parents[3]


def arm(
    name: str, table: Sequence[Sequence[float | None]], identity: str = "fp_1", endpoint: str = "", **more: str
) -> ArmAnswers:
    cases = [
        CaseAnswers(
            f"case-{i}",
            tuple(
                Answer(
                    score,
                    k,
                    f"answer {score}",
                    identity=identity if score is not None else "",
                    outcome="text" if score is not None else "timeout",
                )
                for k, score in enumerate(row, start=1)
            ),
            question=f"Question {i}?",
        )
        for i, row in enumerate(table)
    ]
    return ArmAnswers(name, tuple(cases), endpoint, **more)


def drawn(p: float, n: int = 80, repeats: int = 5, seed: int = 0) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return (rng.random((n, repeats)) < np.clip(p + rng.normal(0, 0.1, (n, 1)), 0, 1)).astype(float).tolist()


def test_an_error_is_unscored_and_never_a_fail() -> None:
    found = report(arm("a", [[1.0, None, 1.0], [None, None, None]]))
    assert found.score is not None
    assert found.score.estimate.value == 1.0
    assert found.scored == 2
    assert found.unscored == (("timeout", 4),)
    assert [case.key for case in found.unscored_cases] == ["case-1"]


def test_nothing_scored_is_said_and_not_zero() -> None:
    found = report(arm("a", [[None]]))
    assert found.score is None
    assert words.headline(found) == "a: nothing was scored."
    assert gate.exit_code([found], []) is gate.Exit.FAILED


def test_flipping_cases_come_nearest_to_even_first_and_steady_ones_are_not_called_stable() -> None:
    found = report(arm("a", [[1, 1, 1, 1, 0], [1, 0, 1, 0, 1], [1, 1, 1, 1, 1]]))
    assert [flip.case.key for flip in found.flipping] == ["case-1", "case-0"]
    steady = report(arm("a", [[1.0] * 5] * 4))
    assert (
        words.flips(steady)
        == "no flip seen in 20 answers to 4 cases; a case could still flip in up to 45 % of its answers"
    )


def test_a_tree_shows_where_answers_part_and_who_was_right() -> None:
    answers = [
        Answer(1.0, 1, "The capital is Paris."),
        Answer(0.0, 2, "The capital is Rome."),
        Answer(1.0, 3, "The capital is Paris."),
    ]
    tree = tree_of(answers)
    assert tree is not None
    assert tree.trunk == "The capital is"
    assert [(fork.first, fork.count, fork.score) for fork in tree.forks] == [(" Paris", 2, 1.0), (" Rome", 1, 0.0)]
    assert not tree.tokens_known
    assert tree_of([Answer(None, 1)]) is None


def test_overlapping_intervals_and_a_clear_difference() -> None:
    a = drawn(0.7)
    b = [[0.0 if i % 5 == 0 and k < 3 else x for k, x in enumerate(row)] for i, row in enumerate(a)]
    found = compare(arm("new", a), arm("old", b))
    assert found.overlap
    assert found.verdict is Verdict.BETTER
    assert found.scope is Scope.SAMPLE
    assert "new is better than old: +" in words.verdict(found)


def test_two_dates_of_one_endpoint_are_judged_on_exactly_these_cases() -> None:
    found = compare(
        arm("May", drawn(0.7), "fp_1", "e", setup="e"), arm("June", drawn(0.7, seed=1), "fp_2", "e", setup="e")
    )
    assert found.scope is Scope.THESE
    assert not found.confounded, "an identity that changed between the dates is what may be found"
    assert found.these is not None
    assert found.like is not None
    assert found.these.error is not None
    assert found.like.error is not None


def test_inconclusive_says_what_it_needs() -> None:
    found = compare(arm("a", drawn(0.7, 20)), arm("b", drawn(0.68, 20, seed=4)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.needs is not None
    assert "n = " in words.verdict(found)
    assert "would have been seen" in words.verdict(found)


def test_identical_steady_arms_are_equivalent_on_these_cases() -> None:
    a, b = (arm(name, [[float(i % 3 > 0)] * 5 for i in range(40)], endpoint="e", setup="e") for name in "ab")
    found = compare(a, b, margin=0.03)
    assert found.verdict is Verdict.EQUIVALENT


def test_few_shared_cases_are_not_paired() -> None:
    a, b = arm("a", drawn(0.8)), arm("b", drawn(0.6))
    moved = ArmAnswers("b", tuple(CaseAnswers(f"other-{i}", c.answers) if i % 2 else c for i, c in enumerate(b.cases)))
    found = compare(a, moved)
    assert found.like is not None
    assert found.like.method.startswith("Welch")
    assert found.these is None


def test_identities_that_differ_confound_and_are_reported_apart() -> None:
    mixed = arm("a", drawn(0.7, 30))
    half = tuple(
        CaseAnswers(
            c.key,
            tuple(Answer(x.score, x.round, x.text, identity="fp_2" if x.round > 3 else "fp_1") for x in c.answers),
        )
        for c in mixed.cases
    )
    found = compare(ArmAnswers("a", half), arm("b", drawn(0.7, 30, seed=2)))
    assert found.void
    assert "2 identities" in found.confounded[0]
    assert [stratum.identity for stratum in found.strata] == ["fp_1"]
    between = compare(arm("a", drawn(0.7, 9), "fp_1", "e"), arm("b", drawn(0.7, 9), "fp_2", "e"))
    assert "one endpoint" in between.confounded[0]
    other_endpoint = compare(arm("a", drawn(0.7, 9), "fp_1", "e"), arm("b", drawn(0.7, 9), "fp_2", "f"))
    assert not other_endpoint.confounded, "two endpoints have two identities"


def test_several_arms_are_corrected() -> None:
    arms = [arm(str(i), drawn(0.7, 30, seed=i)) for i in range(4)]
    found = compare_all(arms)
    assert len(found) == 6
    for comparison in found:
        assert comparison.family == 6
        assert comparison.deciding is not None
        assert comparison.p_adjusted is not None
        assert comparison.p_adjusted >= comparison.deciding.p


@pytest.mark.parametrize(
    ("a", "b", "void", "expected"),
    [
        (0.9, 0.5, "", gate.Exit.FINE),
        (0.5, 0.9, "", gate.Exit.WORSE),
        (0.70, 0.68, "", gate.Exit.INCONCLUSIVE),
        (0.5, 0.9, "the baseline was not valid", gate.Exit.VOID),
    ],
)
def test_exit_codes(a: float, b: float, void: str, expected: gate.Exit) -> None:
    arms = [arm("new", drawn(a), void=void), arm("old", drawn(b, seed=3))]
    reports, comparisons = [report(x) for x in arms], compare_all(arms)
    assert gate.exit_code(reports, comparisons) is expected


def test_junit_says_the_same() -> None:
    arms = [arm("new", drawn(0.5)), arm("old", drawn(0.9, seed=3))]
    suite = ElementTree.fromstring(
        gate.junit(Results("set", tuple(arms)), [report(x) for x in arms], compare_all(arms))
    )
    assert suite.get("failures") == "1"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "new is worse than old" in (failure.get("message") or "")
    assert int(suite.get("skipped") or 0) == sum(len(report(x).flipping) for x in arms)


def test_what_people_wrote_cannot_become_markup() -> None:
    evil = "<script>alert(1)</script>"
    case = CaseAnswers(evil, (Answer(1.0, 1, evil), Answer(0.0, 2, "ok")), question=evil)
    results = Results(evil, (ArmAnswers(evil, (case,), void=evil), ArmAnswers("b", (case,))))
    reports, comparisons = [report(x) for x in results.arms], compare_all(results.arms)
    assert evil not in standalone.render(results, reports, comparisons)
    assert evil in terminal.render(results, reports, comparisons)


def test_the_command_needs_no_database(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    rows = [
        f"case{i},{model},{int((i * 7 + k * 3 + (model == 'b')) % 5 > 1)},{k}"
        for i in range(30)
        for k in range(1, 6)
        for model in "ab"
    ]
    file.write_text("item_id,model,score,epoch\n" + "\n".join(rows))
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "evalreport", str(file)],
        capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "TIDEGAUGE_ENV_FILE": "/dev/null"}, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "95 % interval" in done.stdout
    page = (tmp_path / "scores.report.html").read_text()
    assert "<svg" in page
    assert "<script" not in page


def test_the_command_as_json_and_its_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("item_id,model,score\na,m,1\nb,m,0\n")
    assert main([str(file), "--json", "--no-html"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["arms"][0]["score"]["value"] == 0.5
    assert main([str(tmp_path / "absent.csv"), "--no-html"]) == 2
    file.write_text("x,y\n1,2\n")
    assert main([str(file), "--no-html"]) == 2
    assert "case" in capsys.readouterr().err


def test_the_outlook_spends_the_same_money_better() -> None:
    noisy = DifferenceNoise(data=0.001, prediction=0.4, cases=50)
    found = outlook(noisy, cases=50, repeats=2, goal=0.05, case_cost=20)
    assert [step.repeats for step in found.steps] == [1, 3, 5, 10, 20]
    assert found.steps[0].smallest > found.steps[-1].smallest
    assert found.same_money is not None
    assert found.same_money.repeats > 2, "dear cases and much sampling noise ask for repeats"
    assert found.same_money.cost <= 50 * 22 + 1
    assert found.same_money.cases >= 20, "a handful of cases says little about others"
    assert expected(None, 100, 5) == pytest.approx(smallest_difference(NO_PILOT, 100, 5))
    assert expected(noisy, 0, 5) is None
