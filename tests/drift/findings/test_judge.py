"""The truth table: what each kind of change leads to, and how soon."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from drift.findings.evidence import Evidence, Limits
from drift.findings.judge import State, judge
from drift.findings.kinds import Kind
from drift.findings.names import Name
from tests.drift.findings.simulated import START, SimulatedSeries, fp, mix

A, B, C = fp("fp_a"), fp("fp_b"), fp("fp_c")


def calm(names: object = None, **fields: object) -> SimulatedSeries:
    """Thirty quiet runs: learned, with a valid baseline."""
    series = SimulatedSeries(mix({A: 1}) if names is None else names, np.random.default_rng(5), **fields)  # type: ignore[arg-type]
    series.run(30)
    assert not series.found, series.kinds()
    assert series.state.answers is not None
    return series


def test_a_new_name_in_one_answer_is_watched_and_asked_about_and_nothing_more() -> None:
    series = calm()
    series.names = lambda rng, index: [A] * 39 + [B]
    series.run()
    series.names = mix({A: 1})
    series.run(40)

    assert series.kinds() == [Kind.IDENTITY_SEEN]
    assert series.extra == 1
    assert series.state.answers is not None, "the baseline stays valid"


def test_a_name_that_takes_over_is_a_change_with_the_second_run() -> None:
    """One slot and the extra run that it asked for at once."""
    series = calm()
    series.names = mix({B: 1})
    series.run(1)
    assert series.kinds() == [Kind.IDENTITY_SEEN]
    series.run(1)

    assert Kind.NEW_IDENTITY in series.kinds()
    index, found = series.found[1]
    assert index == 31
    assert found.began == START + timedelta(minutes=5) * 30, "since the first changed answer, not since it was sure"
    assert found.facts["taken_over"]
    assert series.state.collecting, "the next baseline is being taken"


def test_a_name_that_persists_beside_the_known_one_is_a_change_later() -> None:
    series = calm()
    series.names = mix({A: 7, B: 3})
    series.run(6)

    assert series.kinds()[:2] == [Kind.IDENTITY_SEEN, Kind.NEW_IDENTITY]
    assert series.found[1][1].facts["taken_over"] is False
    assert series.found[1][0] - 30 <= 4


def test_a_change_of_name_and_answers_says_both_at_once() -> None:
    series = calm()
    series.names, series.moved = mix({B: 1}), 1.0
    series.run(2)

    assert Kind.BEHAVIOURAL in series.kinds()


def test_a_name_that_comes_back_is_said_to_be_back_and_then_belongs() -> None:
    series = calm()
    series.names = mix({B: 1})
    series.run(30)
    series.names = mix({A: 1})
    series.run(30)
    series.names = mix({B: 1})
    series.run(30)

    loud = [kind for kind in series.kinds() if Kind(kind).opens]
    assert loud == [Kind.NEW_IDENTITY, Kind.IDENTITY_RETURNED]


def test_another_model_echo_is_told_apart_from_another_fingerprint() -> None:
    series = calm()
    series.names = mix({fp("fp_a", echo="gpt-y-2026"): 1})
    series.run(2)

    assert Kind.MODEL_ECHO in series.kinds()


def test_a_fingerprint_that_appears_is_the_servers_manner_and_voids_nothing() -> None:
    series = calm(mix({fp(None): 1}))
    series.names = mix({A: 1})
    series.run(4)

    assert Kind.FINGERPRINT_KEY in series.kinds()
    assert not any(Kind(kind).voids for kind in series.kinds())
    assert series.state.answers is not None


def test_another_upstream_is_routing() -> None:
    series = calm(mix({Name("m", "null", "", "BaseTen").key(): 1}))
    series.names = mix({Name("m", "null", "", "AtlasCloud").key(): 1})
    series.run(2)

    assert Kind.ROUTING in series.kinds()


def test_answers_that_move_under_one_name_are_a_silent_change() -> None:
    series = calm()
    series.moved = 0.5
    series.run(6)

    assert series.kinds() == [Kind.SILENT_CHANGE]
    found = series.found[0][1]
    assert found.chance is not None
    assert found.chance < 1e-4
    assert found.began >= START + timedelta(minutes=5) * 29


def test_answers_that_move_in_white_space_only_are_formatting() -> None:
    series = calm()
    series.moved, series.white_space_only = 0.5, True
    series.run(6)

    assert series.kinds() == [Kind.FORMATTING]


def test_a_known_mix_that_shifts_is_found_and_voids_nothing() -> None:
    series = calm(mix({A: 8, B: 2}))
    series.names = mix({A: 2, B: 8})
    series.run(30)

    assert series.kinds() == [Kind.MIX_SHIFT]


def test_a_name_of_the_set_that_is_gone_is_for_the_record() -> None:
    series = calm(mix({A: 6, B: 4}))
    series.names = mix({A: 1})
    series.run(60)

    assert Kind.VANISHED in series.kinds()
    assert not any(Kind(kind).voids for kind in series.kinds())


def test_the_same_prompt_counted_otherwise_is_found_with_the_second_run() -> None:
    series = SimulatedSeries(mix({A: 1}), np.random.default_rng(5))
    series.run(20, prompt_tokens={"1": 11, "2": 30})
    series.run(1, prompt_tokens={"1": 13, "2": 32})
    assert not series.found
    assert series.extra == 1
    series.run(1, prompt_tokens={"1": 13, "2": 32})

    assert series.kinds() == [Kind.PROMPT_TOKENS]


def test_an_outage_needs_two_runs_and_so_does_its_end() -> None:
    series = calm()
    down = {"comparable": 0, "failed": 40, "names": {}, "departure": None, "why": "connection refused"}
    series.run(1, **down)
    assert not series.found
    series.run(3, **down)
    assert series.kinds() == [Kind.OUTAGE]
    series.run(1)
    assert series.kinds() == [Kind.OUTAGE]
    series.run(1)

    assert series.kinds() == [Kind.OUTAGE, Kind.RECOVERY]
    assert series.state.answers is not None, "an outage voids nothing"


def test_a_model_that_the_provider_no_longer_has_is_retired() -> None:
    series = calm()
    series.run(2, comparable=0, failed=40, names={}, departure=None, model_gone=True, why="no such model")

    assert series.kinds() == [Kind.RETIRED]


def test_cached_answers_are_told_of_and_enter_nothing() -> None:
    series = calm()
    series.run(3, comparable=10, cached=30, departure=None, why="age header")
    assert series.kinds() == [Kind.CACHED]
    series.run(2)

    assert series.kinds() == [Kind.CACHED, Kind.UNCACHED]


@pytest.mark.parametrize("change", ["name", "answers"])
def test_nothing_is_found_twice(change: str) -> None:
    series = calm()
    if change == "name":
        series.names = mix({B: 1})
    else:
        series.moved = 1.0
    series.run(60)

    loud = [kind for kind in series.kinds() if Kind(kind).opens]
    assert len(loud) == 1, series.kinds()


def test_a_second_change_before_the_new_baseline_is_ready_is_not_overlooked() -> None:
    series = calm()
    series.names = mix({B: 1})
    series.run(6)
    series.names = mix({C: 1})
    series.run(30)

    assert series.kinds().count(Kind.NEW_IDENTITY) == 2


def test_a_state_survives_its_column() -> None:
    series = calm(mix({A: 8, B: 2}))
    series.names = mix({A: 5, B: 2, C: 3})
    series.run(2, prompt_tokens={"1": 3})

    assert State.from_numbers(series.state.to_numbers()) == series.state


def test_a_run_without_an_answer_changes_nothing_but_streaks() -> None:
    series = calm()
    before = series.state
    nothing = Evidence(at=series.now, answers=0, comparable=0)

    assert judge(before, nothing, Limits()).state == before
