"""Traps 1 to 13: what fingerprints, names, routes, caches and seeds promise, and what the prober makes of them."""

from __future__ import annotations

import pytest

from drift.answers import FingerprintState, Transport
from tests.workers.probe.simulated import ask, register, scenario
from workers.probe.negotiate import State

pytestmark = pytest.mark.anyio


async def test_b01_fingerprint_flaps_though_nothing_changed() -> None:
    run = await ask("b01", times=20)
    fingerprints = {answer.identity.fingerprint for answer in run.answers}
    assert fingerprints == {"fp_aaaaaaaaaa", "fp_bbbbbbbbbb"}
    assert set(run.outcomes) == {"text"}, "an answer under another fingerprint is still a comparable answer"
    assert len(set(run.texts)) == 1


async def test_b02_a_null_fingerprint_is_told_from_an_absent_one_and_a_value() -> None:
    null = (await ask("b02")).answers[0].identity
    absent = (await ask("b09")).answers[0].identity
    value = (await ask("exact")).answers[0].identity
    assert (null.fingerprint_state, null.fingerprint) == (FingerprintState.NULL, "")
    assert (absent.fingerprint_state, absent.fingerprint) == (FingerprintState.ABSENT, "")
    assert (value.fingerprint_state, value.fingerprint) == (FingerprintState.VALUE, "fp_5151515151")


async def test_b03_the_fingerprint_comes_from_the_last_chunk_that_has_one_and_belongs_to_the_model() -> None:
    streamed = (await ask("b03", transport=Transport.STREAM)).answers[0]
    other = (await ask("b03", model="simulated-other")).answers[0]
    assert streamed.identity.fingerprint == "vllm-0.24.0-tp4-0a1b2c3d"
    assert other.identity.fingerprint_state is FingerprintState.NULL
    assert other.identity.model_echo == "simulated-other"


async def test_b04_answers_at_temperature_0_differ_and_all_of_them_count() -> None:
    run = await ask("b04", times=12)
    assert len(set(run.texts)) > 1
    assert set(run.outcomes) == {"text"}


async def test_b05_a_cold_first_call_is_told_from_warm_ones_by_its_cached_tokens() -> None:
    run = await ask("b05", times=3)
    cached = [answer.usage.cached_tokens for answer in run.answers]
    assert cached[0] is None
    assert cached[1] == cached[2] == run.answers[0].usage.prompt_tokens - 1
    assert set(run.outcomes) == {"text"}, "a prompt cache is no answer cache"
    assert run.texts[0] != run.texts[1] == run.texts[2]


async def test_b06_the_upstream_behind_a_router_is_part_of_the_identity() -> None:
    run = await ask("b06", times=4)
    assert [answer.identity.upstream for answer in run.answers] == ["Alpha", "Beta", "Alpha", "Beta"]
    assert any("router" in sentence for sentence in (await register("b06")).advice)


async def test_b07_a_repointed_alias_shows_in_the_echo_and_a_retired_one_in_the_error_code() -> None:
    run = await ask("b07", times=3, advance_s=(0, 4000, 4000))
    assert [answer.identity.model_echo for answer in run.answers[:2]] == ["simulated-v3", "simulated-v4"]
    assert run.outcomes == ["text", "text", "http_error"]
    assert run.answers[2].error_code == "model_not_found"
    assert "retired" in run.answers[2].error_message


async def test_b08_an_alias_that_echoes_a_dated_name_registers_and_is_called_floating() -> None:
    negotiation = await register("b08")
    assert negotiation.problem is None
    assert any("simulated-small-2026-08-06" in sentence and "alias" in sentence for sentence in negotiation.advice)


async def test_b09_an_alias_that_echoes_itself_proves_nothing_and_that_is_said() -> None:
    negotiation = await register("b09")
    assert negotiation.problem is None
    assert any("cannot be seen" in sentence for sentence in negotiation.advice)


async def test_b10_a_server_that_ignores_the_model_name_is_noticed_at_registration() -> None:
    asked_right = await register("b10")
    asked_wrong = await register("b10", model="any-model")
    assert not any("ignore names" in sentence for sentence in asked_right.advice)
    assert asked_wrong.problem is None
    assert any("simulated-loaded" in sentence and "ignore names" in sentence for sentence in asked_wrong.advice)


async def test_b11_a_fallback_that_only_headers_show_leaves_the_comparable_answers() -> None:
    run = await ask("b11", times=3)
    assert run.outcomes == ["text", "text", "fallback"]
    assert run.answers[0].identity.deployment == "deployment-a"
    assert run.answers[2].identity.deployment == "deployment-b"


async def test_b12_cached_answers_are_marked_with_the_evidence_and_leave_the_comparable_ones() -> None:
    run = await ask("b12", times=4)
    assert run.outcomes == ["text", "cached", "cached", "cached"]
    assert run.answers[1].cache_evidence == "cf-aig-cache-status: HIT"
    assert "came twice" in run.answers[2].cache_evidence


async def test_b12_repeated_answers_of_a_fresh_endpoint_are_not_taken_for_cached() -> None:
    run = await ask("exact", times=4)
    assert run.outcomes == ["text"] * 4


async def test_b13_whether_a_seed_has_an_effect_is_found_out_at_registration() -> None:
    honest = await register("exact")
    ignoring = await register("b13")
    assert honest.capabilities["seed"].state is State.HONOURED
    assert ignoring.capabilities["seed"].state is State.IGNORED
    assert "differed" in ignoring.capabilities["seed"].evidence
    assert ignoring.problem is None


async def test_a_key_is_asked_for_by_name() -> None:
    locked = scenario("exact", api_key="sk-the-right-key-1234")
    assert "Enter an API key" in ((await register(locked)).problem or "")
    wrong = (await register(locked, api_key="sk-another-key-9876")).problem or ""
    assert "refuses the key" in wrong
    assert "sk-another-key-9876" not in wrong
    assert (await register(locked, api_key="sk-the-right-key-1234")).problem is None
