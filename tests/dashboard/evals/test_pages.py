"""The eval pages: what they say, who may see them, who may change things."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from drift.evals.cases import read
from drift.models import Endpoint, EvalAnswer, EvalRun, EvalSet, EvalUpload, EvalVersion
from tests.dashboard.evals.conftest import answered

CASES = b"""{"id": "a", "input": "2 + 2?", "target": "4"}
{"id": "b", "input": "3 + 3?", "target": "6"}
{"id": "c", "input": "file:///etc/passwd", "target": "x"}
"""


@pytest.fixture
def cases(team) -> EvalUpload:
    return EvalUpload.objects.create(team=team, purpose="cases", name="cases.jsonl", raw=CASES)


@pytest.fixture
def pages(run: EvalRun, upload: EvalUpload, cases: EvalUpload) -> dict[str, str]:
    version, answer = run.version, EvalAnswer.objects.filter(arm__run=run).first()
    assert answer is not None
    found = {
        "eval-version": reverse("eval-version", args=[version.public_id]),
        "eval-version-export": reverse("eval-version-export", args=[version.public_id]),
        "eval-run-new": reverse("eval-run-new", args=[version.public_id]),
        "eval-run": reverse("eval-run", args=[run.public_id]),
        "eval-raw": reverse("eval-raw", args=[run.public_id]),
        "eval-answer": reverse("eval-answer", args=[answer.public_id]),
        "eval-import": reverse("eval-import", args=[cases.public_id]),
        "eval-upload": reverse("eval-upload", args=[upload.public_id]),
        "eval-columns": reverse("eval-columns", args=[upload.public_id]),
    }
    for kind, row in (("runs", run), ("uploads", upload)):
        found[f"{kind}-arm"] = reverse("eval-arm", args=[kind, row.public_id, 1])
        found[f"{kind}-compare"] = reverse("eval-compare", args=[kind, row.public_id])
        found[f"{kind}-page"] = reverse("eval-page", args=[kind, row.public_id])
        for table in ("arms", "comparisons", "cases", "answers"):
            found[f"{kind}-{table}"] = reverse("eval-csv", args=[kind, row.public_id, table])
    return found


def changes(run: EvalRun) -> dict[str, str]:
    version = run.version.public_id
    return {
        "archive": reverse("eval-archive", args=[version]),
        "restore": reverse("eval-restore", args=[version]),
        "begin": reverse("eval-run-new", args=[version]),
        **{name: reverse(f"eval-{name}", args=[run.public_id]) for name in ("pause", "resume", "stop", "deepen")},
    }


EDITORS = {"eval-run-new", "eval-import", "eval-columns"}


def test_the_team_sees_every_page(pages: dict[str, str], as_alice: Client) -> None:
    for name, address in {**pages, "evals": "/evals/", "new": "/evals/new", "upload": "/evals/upload"}.items():
        answer = as_alice.get(address)
        assert answer.status_code == 200, name
        if answer.streaming:
            assert b"".join(answer.streaming_content), name


def test_nobody_gets_in_without_a_login(pages: dict[str, str]) -> None:
    for name, address in {**pages, "evals": "/evals/"}.items():
        answer = Client().get(address)
        assert answer.status_code == 302, name
        assert answer["Location"].startswith("/login")


def test_mallory_finds_nothing(pages: dict[str, str], run: EvalRun, as_mallory: Client) -> None:
    for name, address in pages.items():
        assert as_mallory.get(address).status_code == 404, name
    for name, address in changes(run).items():
        assert as_mallory.post(address).status_code == 404, name
    listing = as_mallory.get("/evals/").content.decode()
    assert "Six questions" not in listing
    assert "scores.csv" not in listing
    assert as_mallory.get(f"/evals/new?from={run.version.public_id}").content.decode().count("12 * 12") == 0


def test_a_viewer_looks_but_does_not_change(pages: dict[str, str], run: EvalRun, as_vera: Client) -> None:
    for name, address in pages.items():
        assert as_vera.get(address).status_code == (403 if name in EDITORS else 200), name
    for name, address in {**changes(run), "new": "/evals/new", "upload": "/evals/upload"}.items():
        assert as_vera.post(address).status_code == 403, name
    assert "Ask the picked ones" not in as_vera.get(pages["runs-arm"]).content.decode()
    assert "Upload results" not in as_vera.get("/evals/").content.decode()


def test_a_run_says_its_verdict_first(pages: dict[str, str], as_alice: Client) -> None:
    page = as_alice.get(pages["eval-run"]).content.decode()
    assert "<h1>new prompt is better than old prompt: +" in page
    assert "intervals overlap; the paired difference decides" in page or "Better" in page


def test_the_comparison_shows_both_scopes_and_names_the_default(pages: dict[str, str], as_alice: Client) -> None:
    page = as_alice.get(pages["runs-compare"]).content.decode()
    assert "Cases like these (the cases are a sample)" in page
    assert "Exactly these cases" in page
    assert page.count('<span class="tag">decides</span>') == 1
    these = as_alice.get(pages["runs-compare"] + "?scope=these").content.decode()
    assert these.index("Exactly these cases") < these.index('<span class="tag">decides</span>')


def test_flipping_cases_come_with_their_tree(run: EvalRun, as_alice: Client) -> None:
    page = as_alice.get(reverse("eval-arm", args=["runs", run.public_id, 1])).content.decode()
    assert "Flipping cases, the closest first" in page
    assert "<mark> yes</mark>" in page
    assert "All 5 begin the same" in page
    assert "Raw bytes" in page


def test_other_identities_raise_the_confounded_banner(version, endpoint, as_alice: Client) -> None:
    from drift.evals.plan import ArmPlan, start

    made = start(version, [ArmPlan(endpoint, "a"), ArmPlan(endpoint, "b")], repeats=2)
    answered(made, lambda arm, case, repeat: "yes")
    EvalAnswer.objects.filter(arm__run=made, repeat=2).update(identity_label="fp_two · gpt-x-2026")
    page = as_alice.get(reverse("eval-compare", args=["runs", made.public_id])).content.decode()
    assert "Confounded" in page
    assert "2 identities" in page


def test_a_file_of_cases_becomes_a_set(as_bob: Client) -> None:
    answer = as_bob.post("/evals/new", {"file": SimpleUploadedFile("cases.jsonl", CASES)})
    assert answer.status_code == 302
    page = as_bob.get(answer["Location"]).content.decode()
    assert "2 cases, 1 left out" in page
    assert "line 3: file:// is refused" in page
    values = {"name": "Sums", "kind": "inspect", "repeats": "7", "grader": "number", "options": "", "action": "save"}
    saved = as_bob.post(answer["Location"], values)
    assert saved.status_code == 302
    version = EvalVersion.objects.get()
    assert (version.eval_set.name, version.number, version.repeats) == ("Sums", 1, 7)
    assert version.graders == [{"kind": "number"}]
    again = as_bob.post(answer["Location"], values)
    assert again.status_code == 302
    assert EvalSet.objects.get().versions.count() == 2


def test_any_table_goes_through_the_column_mapper(as_bob: Client) -> None:
    answer = as_bob.post("/evals/new", {"text": "frage,loesung\n1 + 1?,2\n", "name": "a.csv"})
    page = as_bob.get(answer["Location"])
    assert page.status_code == 400
    assert "Name the column of the question" in page.content.decode()
    values = {
        "name": "Rechnen", "kind": "mapped", "repeats": "5", "grader": "exact", "options": '{"ignore_case": true}',
        "question": "frage", "target": "loesung",
    }  # fmt: skip
    looked = as_bob.post(answer["Location"], {**values, "action": "preview"})
    assert "1 case" in looked.content.decode()
    assert not EvalSet.objects.exists()
    assert as_bob.post(answer["Location"], {**values, "action": "save"}).status_code == 302
    assert EvalVersion.objects.get().cases.get().targets == ["2"]


def test_a_wrong_option_is_named_and_nothing_is_saved(cases: EvalUpload, as_bob: Client) -> None:
    values = {
        "name": "x",
        "kind": "inspect",
        "repeats": "5",
        "grader": "regex",
        "options": '{"pattern": "("}',
        "action": "save",
    }
    page = as_bob.post(reverse("eval-import", args=[cases.public_id]), values)
    assert page.status_code == 400
    assert "not a regular expression" in page.content.decode()
    assert not EvalSet.objects.exists()


def test_export_reads_back(version: EvalVersion, as_alice: Client) -> None:
    raw = b"".join(as_alice.get(reverse("eval-version-export", args=[version.public_id])).streaming_content)
    found = read("back.jsonl", raw, "inspect")
    assert [case.key for case in found.cases] == [f"q{i}" for i in range(6)]
    assert found.cases[0].targets == ("yes",)


def run_values(endpoint: Endpoint, **more: str) -> dict[str, str]:
    return {
        "arm-TOTAL_FORMS": "2", "arm-INITIAL_FORMS": "0", "arm-MIN_NUM_FORMS": "0", "arm-MAX_NUM_FORMS": "8",
        "arm-0-endpoint": str(endpoint.public_id), "arm-0-name": "one", "arm-1-endpoint": "",
        "repeats": "5", "max_tokens": "10", "concurrency": "2", "margin": "3", **more,
    }  # fmt: skip


def test_a_run_is_estimated_before_it_is_started(version: EvalVersion, endpoint: Endpoint, as_bob: Client) -> None:
    address = reverse("eval-run-new", args=[version.public_id])
    page = as_bob.post(address, run_values(endpoint, action="estimate"))
    assert "30 answers" in page.content.decode()
    assert "a cost that is not known" in page.content.decode()
    assert "by rule of thumb: there is no pilot yet" in page.content.decode()
    assert not EvalRun.objects.exists()
    refused = as_bob.post(address, run_values(endpoint, action="start", cost_cap="1"))
    assert refused.status_code == 400
    assert "cannot be held to a cap in dollars" in refused.content.decode()
    started = as_bob.post(address, run_values(endpoint, action="start", token_cap="1000"))
    assert started.status_code == 302
    made = EvalRun.objects.get()
    assert (made.wanted, made.token_cap, made.state) == (30, 1000, "due")


def test_another_teams_endpoint_cannot_be_an_arm(
    version: EvalVersion, endpoint: Endpoint, mallory, as_bob: Client
) -> None:
    endpoint.team = mallory.teams.get()
    endpoint.save()
    page = as_bob.post(reverse("eval-run-new", args=[version.public_id]), run_values(endpoint, action="start"))
    assert page.status_code == 400
    assert not EvalRun.objects.exists()


def test_pause_resume_stop(run: EvalRun, as_bob: Client) -> None:
    EvalRun.objects.filter(pk=run.pk).update(state="due", finished_at=None, token_cap=10)
    urls = changes(run)
    as_bob.post(urls["pause"])
    run.refresh_from_db()
    assert run.state == "paused"
    assert "Resume" in as_bob.get(reverse("eval-run", args=[run.public_id])).content.decode()
    as_bob.post(urls["resume"], {"token_cap": "5000"})
    run.refresh_from_db()
    assert (run.state, run.token_cap) == ("due", 5000)
    as_bob.post(urls["stop"])
    run.refresh_from_db()
    assert run.state == "stopped"


def test_picked_cases_are_asked_twenty_times(run: EvalRun, as_bob: Client) -> None:
    as_bob.post(changes(run)["deepen"], {"case": ["q1", "q2", "of another set"]})
    deeper = EvalRun.objects.get(deepens=run)
    assert (deeper.repeats, deeper.wanted) == (20, 2 * 2 * 20)


def test_an_upload_without_scores_asks_how_to_compare(as_bob: Client) -> None:
    data = b'item,run,target,response\na,0,(B),"{""Answer"":""B""}"\na,1,(B),"{""Answer"":""C""}"\n'
    answer = as_bob.post("/evals/upload", {"file": SimpleUploadedFile("answers.csv", data)})
    assert answer["Location"].endswith("/columns")
    page = as_bob.get(answer["Location"])
    form = page.context["form"]
    assert form.initial["grader"] == "choice"
    assert json.loads(form.initial["options"]) == {"json_field": "Answer"}
    values = {name: form.initial.get(name, "") for name in form.fields}
    report = as_bob.post(answer["Location"], values, follow=True).content.decode()
    assert "50.0 %" in report
    assert "1 of 1 case flip" in report


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("log.eval", b"PK\x03\x04broken", "not a zip"),
        ("a.csv", b"item_id,score\na,99\n", "not between 0 and 1"),
        ("a.csv", b"", "empty"),
    ],
)
def test_a_file_that_cannot_be_read_is_explained(name: str, data: bytes, words: str, as_bob: Client) -> None:
    page = as_bob.post("/evals/upload", {"file": SimpleUploadedFile(name, data)})
    assert page.status_code == 400
    assert words in page.content.decode()
    assert not EvalUpload.objects.exists()


def test_csv_twins_hold_the_figures_and_no_formula(upload: EvalUpload, as_alice: Client) -> None:
    upload.raw = b"item_id,model,score,epoch\n=1+1,=cmd,1,1\n=1+1,b,0,1\n"
    upload.save()
    for table in ("arms", "answers"):
        raw = b"".join(as_alice.get(reverse("eval-csv", args=["uploads", upload.public_id, table])).streaming_content)
        rows = list(csv.reader(io.StringIO(raw.decode())))
        assert not any(cell.startswith("=") for row in rows for cell in row)


def test_hostile_text_never_becomes_markup(upload: EvalUpload, as_alice: Client) -> None:
    evil = "<script>alert(1)</script>"
    upload.raw = f"item_id,model,score,epoch,response\n{evil},{evil},1,1,{evil}\n{evil},{evil},0,2,x\n".encode()
    upload.save()
    for address in (
        reverse("eval-upload", args=[upload.public_id]),
        reverse("eval-arm", args=["uploads", upload.public_id, 0]),
    ):
        assert evil not in as_alice.get(address).content.decode()


def test_the_report_as_a_file_is_a_download(upload: EvalUpload, as_alice: Client) -> None:
    answer = as_alice.get(reverse("eval-page", args=["uploads", upload.public_id]))
    assert answer["Content-Disposition"].startswith("attachment")
    assert b"<style>" in answer.content


def test_arms_that_do_not_exist_are_404(run: EvalRun, as_alice: Client) -> None:
    for address in (
        reverse("eval-arm", args=["runs", run.public_id, 7]),
        reverse("eval-compare", args=["runs", run.public_id]) + "?a=0&b=9",
        reverse("eval-compare", args=["runs", run.public_id]) + "?a=0&b=0",
        "/evals/runs/" + "-" * 36 + "/compare",
    ):
        assert as_alice.get(address).status_code == 404, address


def test_a_comparison_is_a_pilot_for_the_next_run(pages: dict[str, str], as_alice: Client) -> None:
    page = as_alice.get(pages["runs-compare"] + "?case_cost=10").content.decode()
    assert "Planning the next run" in page
    assert "For the money of this run" in page
    for nonsense in ("nan", "-5", "1e400", "x"):
        assert as_alice.get(pages["runs-compare"] + f"?case_cost={nonsense}").status_code == 200


def test_a_baseline_that_became_void_voids_the_run(run: EvalRun, monitor, record_answers, as_alice: Client) -> None:
    from datetime import timedelta

    from drift.models import Baseline

    recorded = record_answers(monitor, (["a"] * 2, ["b"] * 2))
    page = as_alice.get(reverse("eval-arm", args=["runs", run.public_id, 0])).content.decode()
    assert "it had no baseline to compare with" in page
    Baseline.objects.filter(series=recorded.series).delete()
    Baseline.objects.create(
        series=recorded.series, state="invalidated", since=run.started_at, wanted_runs=1,
        valid_at=run.started_at - timedelta(days=1), invalidated_at=run.started_at, reason="a new fingerprint",
    )  # fmt: skip
    page = as_alice.get(reverse("eval-compare", args=["runs", run.public_id])).content.decode()
    assert "its baseline was void when the eval began: a new fingerprint" in page
    assert "Confounded" in page


def test_two_dates_of_one_endpoint_are_judged_on_exactly_these_cases(
    run: EvalRun, version, endpoint, as_alice: Client
) -> None:
    from drift.evals.plan import ArmPlan, start

    later = answered(
        start(version, [ArmPlan(endpoint, "old prompt")], repeats=5),
        lambda arm, case, repeat: "yes" if repeat > 3 else "no",
        fingerprint="fp_two",
    )
    page = as_alice.get(reverse("eval-run", args=[later.public_id])).content.decode()
    assert f"?with={run.public_id}" in page
    compared = as_alice.get(reverse("eval-compare", args=["runs", later.public_id]) + f"?with={run.public_id}&a=0&b=2")
    text = compared.content.decode()
    assert compared.status_code == 200
    assert text.index("Exactly these cases") < text.index('<span class="tag">decides</span>')
    assert "Confounded" not in text
    assert as_alice.get(reverse("eval-compare", args=["runs", later.public_id])).status_code == 404, "one arm alone"


def test_another_teams_run_cannot_be_compared_with(run: EvalRun, mallory, as_mallory: Client, endpoint) -> None:
    assert (
        as_mallory.get(reverse("eval-compare", args=["runs", run.public_id]) + f"?with={run.public_id}").status_code
        == 404
    )
