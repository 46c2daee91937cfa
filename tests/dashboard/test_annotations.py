"""People mark moments; the marks stand on the charts, in their tables and exports, and in the feed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard import charts
from drift import marks
from drift.models import Annotation, AuditEntry, Endpoint, Event, Series, Team, User
from tests.dashboard.conftest import signed_in


def entered(text: str, **more: Any) -> dict[str, Any]:
    return {"at": timezone.localtime().strftime("%Y-%m-%dT%H:%M"), "text": text, **more}


@pytest.fixture
def mark(team: Team, alice: User, endpoint: Endpoint) -> Annotation:
    now = timezone.now()
    return marks.add(team, alice, at=now - timedelta(minutes=2), text="new prompt shipped", now=now, endpoint=endpoint)


def test_a_mark_is_made_from_the_endpoints_page_and_stands_on_it(
    as_alice: Client, measured: Series, endpoint: Endpoint
) -> None:
    page = reverse("endpoint", args=[endpoint.public_id])
    form = f"{reverse('annotation-add')}?endpoint={endpoint.public_id}"
    assert form in as_alice.get(page).content.decode()
    assert f'value="{endpoint.public_id}" selected' in as_alice.get(form).content.decode()
    after = as_alice.post(form, entered("moved to us-east", endpoint=str(endpoint.public_id), back=page), follow=True)
    assert after.redirect_chain[-1][0] == page
    assert "moved to us-east" in after.content.decode()
    assert "marked" in after.content.decode(), "the table twin has a column"


def test_every_chart_and_export_has_the_mark(
    as_alice: Client, measured: Series, endpoint: Endpoint, mark: Annotation
) -> None:
    for slug in ("divergence", "identities", "outcomes", "latency", "cost", "canaries"):
        base = reverse("chart", args=[endpoint.public_id, slug, "csv"]).removesuffix("csv")
        query = f"?series={measured.public_id}&range=24h"
        figure = as_alice.get(f"{base}figure{query}").json()
        assert any("new prompt shipped" in note["text"] for note in figure["layout"]["annotations"]), slug
        assert charts.validated(figure)
        assert "new prompt shipped" in as_alice.get(f"{base}csv{query}").content.decode()
        rows = as_alice.get(f"{base}json{query}").json()["rows"]
        assert [row["marked"] for row in rows if row["marked"]] == ["new prompt shipped"], slug


def test_a_mark_of_the_team_stands_on_every_endpoint_and_one_of_another_endpoint_does_not(
    as_alice: Client, measured: Series, team: Team, alice: User, endpoint: Endpoint
) -> None:
    now = timezone.now()
    other = Endpoint.objects.create(team=team, name="other", base_url="http://x/v1", model="m")
    marks.add(team, alice, at=now - timedelta(minutes=1), text="power cut", now=now)
    marks.add(team, alice, at=now - timedelta(minutes=1), text="not here", now=now, endpoint=other)
    page = as_alice.get(reverse("endpoint", args=[endpoint.public_id])).content.decode()
    assert "power cut" in page
    assert "whole team" in page
    assert "not here" not in page


def test_marks_outside_the_window_and_charts_without_one_are_left_as_they_are(
    as_alice: Client, measured: Series, endpoint: Endpoint, team: Team
) -> None:
    now = timezone.now()
    marks.add(team, None, at=now - timedelta(days=40), text="long ago", now=now)
    address = reverse("chart", args=[endpoint.public_id, "latency", "csv"])
    header = as_alice.get(f"{address}?series={measured.public_id}&range=24h").content.decode().splitlines()[0]
    assert "marked" not in header


def test_changing_and_removing_are_told_in_the_feed_and_the_audit_log(as_alice: Client, mark: Annotation) -> None:
    edit = reverse("annotation-edit", args=[mark.public_id])
    assert "new prompt shipped" in as_alice.get(edit).content.decode()
    as_alice.post(edit, entered("new prompt shipped to all"))
    mark.refresh_from_db()
    assert mark.text == "new prompt shipped to all"
    assert mark.endpoint is None
    as_alice.post(reverse("annotation-remove", args=[mark.public_id]))
    assert not Annotation.objects.exists()
    feed = as_alice.get(reverse("feed")).content.decode()
    assert "Mark taken off the charts" in feed
    assert feed.count("new prompt shipped to all") == 2
    assert list(Event.objects.order_by("pk").values_list("kind", flat=True)) == ["marked", "marked", "unmarked"]
    actions = AuditEntry.objects.filter(subject="annotation").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["created", "changed", "deleted"]


def test_an_empty_or_endless_text_is_refused(as_alice: Client, endpoint: Endpoint) -> None:
    for text in ("", "  ", "x" * 201):
        assert as_alice.post(reverse("annotation-add"), entered(text)).status_code == 400
    assert not Annotation.objects.exists()


def test_a_mark_cannot_carry_markup(as_alice: Client, measured: Series, endpoint: Endpoint) -> None:
    as_alice.post(reverse("annotation-add"), entered("<script>x</script>"))
    page = as_alice.get(reverse("endpoint", args=[endpoint.public_id])).content.decode()
    assert "<script>x" not in page
    address = reverse("chart", args=[endpoint.public_id, "latency", "figure"])
    figure = as_alice.get(f"{address}?series={measured.public_id}&range=24h").json()
    assert "<script>" not in str(figure)


def test_a_viewer_sees_marks_and_an_outsider_none(
    as_vera: Client, mallory: User, measured: Series, mark: Annotation, endpoint: Endpoint
) -> None:
    page = as_vera.get(reverse("endpoint", args=[endpoint.public_id])).content.decode()
    assert "new prompt shipped" in page
    assert reverse("annotation-add") not in page
    assert as_vera.get(reverse("annotation-add")).status_code == 403
    assert as_vera.post(reverse("annotation-remove", args=[mark.public_id])).status_code == 403
    outsider = signed_in(mallory)
    for name in ("annotation-edit", "annotation-remove"):
        assert outsider.post(reverse(name, args=[mark.public_id])).status_code == 404
    foreign = outsider.post(reverse("annotation-add"), entered("mine", endpoint=str(endpoint.public_id)))
    assert foreign.status_code == 400
    assert Annotation.objects.count() == 1
