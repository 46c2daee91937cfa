"""Traps 14 to 20: token scores that are missing, placeholders, in other shapes, or about parts of characters."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.workers.probe.simulated import SCORES, ask, register
from workers.probe.negotiate import State
from workers.probe.retry import next_attempt

pytestmark = pytest.mark.anyio


async def test_b14_a_server_that_fails_on_scores_is_asked_again_without_them() -> None:
    run = await ask("b14", parameters=SCORES)
    retry = next_attempt(run.exchanges[0], run.answers[0], 1, datetime.now(UTC))
    assert retry is not None
    assert retry.without == ("logprobs", "top_logprobs")
    negotiation = await register("b14")
    assert negotiation.problem is None
    assert negotiation.capabilities["logprobs"].state is State.REFUSED
    assert "logprobs" not in negotiation.target.parameters


async def test_b14_scores_that_no_json_allows_are_unknown_and_not_numbers() -> None:
    answer = (await ask("b14-poisoned", parameters=SCORES)).answers[0]
    assert answer.outcome == "text"
    assert answer.tokens is not None
    assert [token.logprob for token in answer.tokens[:3]] == [None, None, -0.5]


async def test_b15_placeholders_are_censored_and_never_values() -> None:
    answer = (await ask("b15", parameters=SCORES)).answers[0]
    assert answer.tokens is not None
    assert [token.logprob for token in answer.tokens[:4]] == [None, None, None, -0.25]


async def test_b16_scores_scaled_by_temperature_are_called_degenerate() -> None:
    degenerate = (await ask("b16", parameters=SCORES)).answers[0]
    real = (await ask("exact", parameters=SCORES)).answers[0]
    assert degenerate.degenerate_logprobs
    assert not real.degenerate_logprobs
    assert "exactly 0" in (await register("b16")).capabilities["logprobs"].evidence


async def test_b17_the_largest_accepted_number_of_alternatives_is_found() -> None:
    refusing = await register("b17")
    clamping = await register("b17-clamped", parameters={**SCORES, "top_logprobs": 20})
    assert (refusing.capabilities["logprobs"].state, refusing.capabilities["logprobs"].value) == (State.HONOURED, "5")
    assert clamping.capabilities["logprobs"].value == "5"
    assert clamping.target.parameters["top_logprobs"] == 5
    assert refusing.problem is None


async def test_b18_scores_that_are_accepted_and_do_not_come_do_not_fail_the_answer() -> None:
    run = await ask("b18", times=2, parameters=SCORES)
    assert run.outcomes == ["text", "text"]
    assert [answer.tokens for answer in run.answers] == [None, None]
    negotiation = await register("b18")
    assert negotiation.capabilities["logprobs"].state is State.IGNORED


async def test_b19_other_shapes_are_named_and_an_unknown_one_yields_no_numbers() -> None:
    run = await ask("b19", times=2, parameters=SCORES)
    legacy, unknown = run.answers
    assert legacy.logprob_shape == "legacy"
    assert legacy.tokens is not None
    assert b"".join(token.text for token in legacy.tokens).decode() == legacy.text
    assert len(legacy.tokens[0].top) == 5
    assert (unknown.logprob_shape, unknown.tokens) == ("unknown", None)
    assert run.outcomes == ["text", "text"]


async def test_b20_parts_of_characters_keep_their_bytes_and_lost_ones_stay_apart() -> None:
    answer = (await ask("b20", parameters=SCORES)).answers[0]
    assert answer.text == "🌊"
    assert answer.tokens is not None
    assert [token.text for token in answer.tokens] == [b"\xf0\x9f", b"\x8c", b"\xef\xbf\xbd", b"\xef\xbf\xbd"]
    assert answer.tokens[3].top == ((b"\xef\xbf\xbd", -0.1), (b"\xef\xbf\xbd", -2.0))
