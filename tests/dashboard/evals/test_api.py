"""Evals as a program drives them: a file of cases in, a run begun, held and read, results from elsewhere reported."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from drift import tokens
from drift.models import ApiToken, Endpoint, EvalRun, EvalSet, EvalUpload, EvalVersion, Team, User
from tests.dashboard.api.test_api import Program

CASES = '{"id": "fr", "input": "Capital of France?", "target": "Paris"}\n'


@pytest.fixture
def key(team: Team, alice: User) -> str:
    return tokens.issue(team=team, user=alice, name="ci", scope=ApiToken.Scope.WRITE)[1]


@pytest.fixture
def writer(key: str) -> Program:
    return Program(key)


def cases(**fields: Any) -> dict[str, Any]:
    return {"name": "Capitals", "text": CASES, "grader": {"kind": "includes"}, **fields}


def test_a_file_of_cases_is_looked_at_and_then_becomes_a_version(writer: Program) -> None:
    status, seen = writer.post("/evals/versions/preview", cases())
    assert (status, seen["format"], seen["cases"], seen["left_out"]) == (200, "inspect", 1, [])
    assert EvalSet.objects.count() == 0
    status, made = writer.post("/evals/versions", cases())
    assert (status, made["number"], made["cases"]) == (201, 1, 1), made
    assert writer.post("/evals/versions", cases())[1]["number"] == 2
    listed = writer.get(f"/evals/sets/{made['set']}/versions", limit=1)[1]
    assert listed["items"][0]["number"] == 2
    assert writer.get(f"/evals/sets/{made['set']}/versions", limit=1, cursor=listed["next"])[1]["items"] == [
        {name: value for name, value in made.items() if name != "cases"}
    ]
    assert writer.get(f"/evals/versions/{made['id']}/cases")[1]["items"][0]["key"] == "fr"


def test_a_case_that_cannot_be_used_is_named_with_its_line_and_nothing_is_saved(writer: Program) -> None:
    table = "question;target;repeats\nA?;a;5\nB?;b;900\n"
    body = cases(text=table, file_name="cases.csv")
    status, said = writer.post("/evals/versions", body)
    assert status == 422
    assert "line 3: repeats must be 1 to 100" in said["detail"]
    assert EvalSet.objects.count() == 0
    status, made = writer.post("/evals/versions", {**body, "leave_out": True})
    assert (status, made["cases"]) == (201, 1)


def test_a_set_is_put_away_and_taken_out_unless_its_name_is_taken(writer: Program, version: EvalVersion) -> None:
    at = f"/evals/sets/{version.eval_set.public_id}"
    assert writer.post(f"{at}/archive")[1]["archived_at"]
    assert writer.get("/evals/sets")[1]["items"] == []
    assert writer.get("/evals/sets", archived="true")[1]["items"][0]["name"] == "Six questions"
    writer.post("/evals/versions", cases(name="Six questions"))
    assert writer.post(f"{at}/restore")[0] == 409
    EvalSet.objects.filter(archived_at=None).delete()
    assert writer.post(f"{at}/restore")[1]["archived_at"] is None


def wish(version: EvalVersion, *endpoints: Endpoint, **fields: Any) -> dict[str, Any]:
    arms = [{"endpoint": str(one.public_id)} for one in endpoints]
    return {"version": str(version.public_id), "arms": arms, "repeats": 2, "max_tokens": 10, **fields}


def test_a_run_is_estimated_begun_held_and_ended(writer: Program, version: EvalVersion, endpoint: Endpoint) -> None:
    status, planned = writer.post("/evals/runs/estimate", wish(version, endpoint, endpoint))
    assert (status, planned["answers"], planned["completion_tokens"], planned["cost"]) == (200, 24, 240, None)
    assert planned["from_pilot"] is False
    assert EvalRun.objects.count() == 0
    status, said = writer.post("/evals/runs", wish(version, endpoint, cost_cap="1.5"))
    assert status == 422
    assert "set its prices" in said["detail"]
    status, made = writer.post("/evals/runs", wish(version, endpoint, endpoint, token_cap=500))
    assert (status, made["state"], [arm["name"] for arm in made["arms"]]) == (201, "due", ["gpt-x A", "gpt-x B"])
    at = f"/evals/runs/{made['id']}"
    assert writer.post(f"{at}/pause")[1]["state"] == "paused"
    assert writer.post(f"{at}/pause")[0] == 409
    resumed = writer.post(f"{at}/resume", {"token_cap": 900})[1]
    assert (resumed["state"], resumed["token_cap"]) == ("due", 900)
    assert writer.get(f"{at}/gate")[1]["answer"] == "failed"
    assert writer.post(f"{at}/stop")[1]["state"] == "stopped"
    assert writer.post(f"{at}/stop")[0] == 409


def test_a_finished_run_gives_its_report_its_gate_and_its_files(writer: Program, run: EvalRun) -> None:
    at = f"/evals/runs/{run.public_id}"
    status, report = writer.get(f"{at}/report")
    assert (status, [arm["name"] for arm in report["arms"]]) == (200, ["new prompt", "old prompt"])
    assert report["arms"][0]["score"]["n"] == 6
    compared = writer.get(f"{at}/comparison", a=1, b=0)[1]["comparison"]
    assert (compared["a"], compared["b"]) == ("old prompt", "new prompt")
    assert compared["cases_like_these"]["value"] == -report["comparisons"][0]["cases_like_these"]["value"]
    assert writer.get(f"{at}/comparison", a=0, b=0)[0] == 404
    gate = writer.get(f"{at}/gate")[1]
    assert (gate["exit_status"], gate["trust"]) == (report["exit_code"], report["exit_code"] == 0)
    assert gate["why"] == [report["comparisons"][0]["sentence"]]
    file = writer.get(f"{at}/report-file", form="arms")[1]
    assert (file["media_type"], file["text"].splitlines()[1].split(",")[0]) == ("text/csv", "new prompt")
    assert writer.get(f"{at}/report-file")[1]["text"].startswith("<!doctype html>")
    page = writer.get(f"{at}/answers", limit=1)[1]
    answer = writer.get(f"/evals/answers/{page['items'][0]['id']}")[1]
    assert (answer["arm"], answer["score"] is None, bool(answer["response_base64"])) == ("new prompt", False, True)
    deeper = writer.post(f"{at}/deepen", {"cases": ["q0", "q1"]})[1]
    assert (deeper["wanted"], deeper["deepens"]) == (2 * 2 * 20, str(run.public_id))


def test_results_from_elsewhere_are_reported_once_their_columns_are_known(key: str, writer: Program) -> None:
    client = Client(headers={"Authorization": f"Bearer {key}"})

    def send(text: bytes) -> Any:
        return client.post("/api/v1/evals/uploads", {"file": SimpleUploadedFile("scores.csv", text)})

    bad = send(b"item_id,model,score,epoch\na,m,1,1\na,m,yes,2\nb,m,perhaps,1\n")
    assert bad.status_code == 422
    assert "line 4" in bad.json()["detail"]
    assert EvalUpload.objects.count() == 0
    made = send(b"which,who,points\na,m,1\na,m,0\nb,m,1\n").json()
    assert made["columns_needed"] is True
    at = f"/evals/uploads/{made['id']}"
    assert writer.get(f"{at}/report")[0] == 422
    named = writer.send("PUT", f"{at}/columns", {"case": "which", "arm": "who", "score": "points"})
    assert named[0] == 200, named
    report = writer.get(f"{at}/report")[1]
    assert (report["arms"][0]["name"], report["arms"][0]["score"]["value"]) == ("m", 0.75)


def test_an_arm_of_another_team_is_not_found(writer: Program, version: EvalVersion, mallory: User) -> None:
    theirs = Endpoint.objects.create(team=mallory.teams.get(), name="theirs", base_url="https://x.example", model="m")
    assert writer.post("/evals/runs", wish(version, theirs))[0] == 404
    assert writer.get(f"/evals/runs/{uuid4()}/report")[0] == 404
