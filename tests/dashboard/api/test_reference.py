"""The API reference: whole, with examples, one address per operation, and nothing that a strict policy would stop."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from dashboard.api.api import api
from dashboard.reference import reference
from drift.models import User


@pytest.fixture
def page(alice: User) -> str:
    client = Client()
    client.force_login(alice)
    answer = client.get("/api/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_every_operation_has_an_address_of_its_own_on_the_page(page: str) -> None:
    paths = api.get_openapi_schema()["paths"]
    described = [one for subject in reference().subjects for one in subject.operations]
    assert len(described) == sum(map(len, paths.values()))
    anchors = re.findall(r' id="([^"]+)"', page)
    assert len(set(anchors)) == len(anchors)
    for one in described:
        assert one.anchor in anchors
        assert one.path in page
    inside = set(re.findall(r'href="#([^"]+)"', page))
    assert inside <= set(anchors), "a link leads nowhere"


def test_every_operation_that_takes_a_body_shows_one_that_can_be_sent() -> None:
    for subject in reference().subjects:
        for one in subject.operations:
            assert one.call.startswith("curl -X ")
            if one.body and " -d " in one.call:
                sent = json.loads(one.call.split("-d '")[1].removesuffix("'"))
                assert set(sent) <= {field.name for field in one.body}, one.path
                needed = {field.name for field in one.body if field.required}
                assert needed <= set(sent), one.path


def test_the_page_runs_no_script_and_styles_nothing_inline(page: str) -> None:
    content = page[page.index('class="reference"') :]
    assert "style=" not in content
    assert not re.search(r"<script(?![^>]*\bsrc=)", content)
    assert "//cdn" not in page
