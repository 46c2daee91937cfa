"""The page of verdicts, its thresholds, and evidence; who may do what."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from drift.fit.bundle import verify
from drift.fit.evidence import own_key
from drift.fit.thresholds import thresholds_of
from drift.models import Endpoint, Sample, Series, Team


def test_every_endpoint_is_judged_for_every_job(as_alice: Client, measured: Series) -> None:
    page = as_alice.get(reverse("fit")).content.decode()
    for job in ("Debugging and replay", "Audit and regression", "On-policy RL", "Prefix caching", "Creative work"):
        assert job in page
    assert "temperature 0" in page
    assert "check it up" in page
    assert own_key() in page


def test_thresholds_are_entered_in_per_cent_and_kept(as_alice: Client, team: Team) -> None:
    as_alice.post(reverse("fit-thresholds"), {"replay_bound": "2", "audit_cap": "512"})
    assert thresholds_of(team)["replay_bound"] == 0.02
    assert thresholds_of(team)["audit_cap"] == 512
    refused = as_alice.post(reverse("fit-thresholds"), {"audit_cap": "many"}, follow=True).content.decode()
    assert "is not a number" in refused
    assert thresholds_of(team)["audit_cap"] == 512


def test_evidence_of_a_run_and_of_a_sample_verifies(as_alice: Client, measured: Series, sample: Sample) -> None:
    whole = as_alice.get(reverse("evidence", args=[measured.endpoint.public_id]))
    assert whole["Content-Type"] == "application/zip"
    found = verify(whole.content)
    assert found.key == own_key()
    assert len(found.answers) == 10
    assert found.about["model"] == "gpt-x"
    one = verify(as_alice.get(reverse("sample-evidence", args=[sample.public_id])).content)
    assert one.answers[0]["id"] == str(sample.public_id)
    assert one.answers[0]["identity"]["fingerprint"] == "fp_one"


def test_mallory_and_a_viewer(as_mallory: Client, as_vera: Client, endpoint: Endpoint, team: Team) -> None:
    assert "gpt-x" not in as_mallory.get(reverse("fit")).content.decode()
    assert as_mallory.get(reverse("evidence", args=[endpoint.public_id])).status_code == 404
    assert as_vera.get(reverse("fit")).status_code == 200
    assert as_vera.post(reverse("fit-thresholds"), {"audit_cap": "9"}).status_code == 403
    as_mallory.post(reverse("fit-thresholds"), {"audit_cap": "9"})
    assert thresholds_of(team)["audit_cap"] == 128
