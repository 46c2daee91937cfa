"""Reading stored bytes again with a decoder that learned something."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import call_command

from drift import monitors
from drift.models import Endpoint, Identity, Output, Reading, Sample, SeriesBucket
from tests.stack import answering_server
from workers.probe.decode import VERSION
from workers.probe.run import perform

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def probed(monitor):
    with answering_server() as (url, _):
        Endpoint.objects.filter(pk=monitor.endpoint_id).update(base_url=url)
        perform(monitors.run_now(monitor, None).pk)
    return monitor


def everything() -> str:
    rows = {model.__name__: list(model.objects.order_by("pk").values()) for model in (Sample, Output, Identity)}
    # Rollups are made anew, so their row numbers change and nothing else does.
    rows["SeriesBucket"] = [
        {name: value for name, value in row.items() if name != "id"}
        for row in SeriesBucket.objects.order_by("span", "starts_at").values()
    ]
    return json.dumps(rows, default=str, sort_keys=True)


def test_reading_again_with_the_same_decoder_changes_nothing(probed):
    before = everything()
    call_command("redecode", "--all")
    assert everything() == before


def test_answers_misread_by_an_older_decoder_are_read_right_and_the_figures_follow(probed):
    Sample.objects.update(decoder_version=VERSION - 1, outcome="unreadable", output=None, prompt_tokens=None)
    raw = list(Sample.objects.order_by("pk").values_list("raw", "request", "latency_ms"))
    Reading.objects.update(pairs=0, taken_at=Reading.objects.get().taken_at - timedelta(days=9))

    call_command("redecode")

    assert set(Sample.objects.values_list("outcome", "prompt_tokens", "decoder_version")) == {("text", 9, VERSION)}
    assert Reading.objects.get().pairs > 0
    assert list(Sample.objects.order_by("pk").values_list("raw", "request", "latency_ms")) == raw
