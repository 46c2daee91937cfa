"""Endpoints of every kind that the simulator knows, and the words that a check-up finds for them."""

from __future__ import annotations

import json

import pytest

from drift.checkup.plain import from_plain, to_plain
from drift.checkup.plan import Wish
from drift.checkup.report import Report, report
from tests.workers.checkup.simulated import PARAMETERS, examine, world
from workers.simulate.library import FLAPPING
from workers.simulate.scenario import Support, Version

WISH = Wish(repeats=5, concurrencies=(1,), max_tokens=16, prefix_words=3, prefix_questions=3)
ONE = {1: 0.1}


def examined(fingerprints=None, flips=ONE, parameters=PARAMETERS, **fields) -> Report:
    version = Version(length=14) if fingerprints is None else Version(length=14, fingerprints=fingerprints)
    return report(examine(world(7, flips, version=version, **fields), WISH, parameters=parameters))


@pytest.mark.parametrize(
    ("fingerprints", "kind"),
    [
        ((), "absent"),
        (((None, 1.0),), "absent"),
        ((("fp_0123456789", 1.0),), "constant"),
        (FLAPPING, "stable_set"),
        (tuple((f"fp_{i:010d}", 1.0) for i in range(4000)), "churning"),
    ],
)
def test_the_identity_class_is_the_one_set(fingerprints, kind) -> None:
    assert examined(fingerprints).identities.kind == kind


def test_a_vllm_fingerprint_is_taken_apart() -> None:
    (named,) = examined((("vllm-0.24.0-tp4-0a1b2c3d", 1.0),)).identities.names
    assert named.server == "vLLM"
    assert ("version", "0.24.0") in named.parts


def test_answers_out_of_a_cache_are_found_and_lead_the_verdict() -> None:
    found = examined(case="b12")
    assert found.caching.share is not None
    assert found.caching.share.value > 0.5
    assert found.caching.evidence
    assert "cache" in found.verdict[1]
    assert any(one.name == "cache" for one in found.settings)


def test_an_endpoint_that_always_repeats_gets_a_bound_and_not_a_promise() -> None:
    found = examined(flips={1: 0.0})
    assert found.quiet is not None
    assert found.quiet.pairs_differing == 0
    assert "0 of" in found.verdict[0]
    assert "unseen" in found.verdict[0]
    assert found.seed.word == "repeats"
    assert found.greedy.word == "greedy"


def test_without_scores_the_figures_that_need_them_are_none_and_tokens_are_approximate() -> None:
    plain = {"temperature": 0, "seed": 42}
    found = examined(parameters=plain)
    assert found.near_ties is None
    assert found.greedy.word == "unknown"
    assert found.quiet is not None
    assert not found.quiet.tokens_known


def test_an_endpoint_that_takes_no_seed_is_not_asked_about_it() -> None:
    found = examined(parameters={"temperature": 0}, support=Support(refused=("seed",)))
    assert found.seed.word == "unknown"
    assert found.seed.hot is None


def test_an_endpoint_that_only_fails_is_said_to_fail() -> None:
    found = examined(api_key="another")
    assert found.quiet is not None
    assert found.quiet.divergence is None
    assert found.settings == ()
    assert found.limits == ()
    assert "http error" in found.verdict[0]


def test_a_report_comes_back_from_json_as_it_was() -> None:
    found = examined()
    assert from_plain(Report, json.loads(json.dumps(to_plain(found)))) == found
