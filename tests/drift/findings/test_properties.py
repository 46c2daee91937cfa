"""What holds for any sequence of runs whatever."""

from __future__ import annotations

import json
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from drift.findings.evidence import Departure, Evidence, Limits
from drift.findings.judge import State, judge, watching
from drift.findings.kinds import Kind
from tests.drift.findings.simulated import START, fp

NAMES = [fp(None), *(fp(f"fp_{letter}") for letter in "abc"), fp("fp_a", echo="other")]


@st.composite
def runs(draw: st.DrawFn) -> list[Evidence]:
    made = []
    for number in range(draw(st.integers(1, 40))):
        answers = draw(st.sampled_from([0, 1, 8, 40]))
        comparable = draw(st.integers(0, answers))
        cached = draw(st.integers(0, answers - comparable))
        names = draw(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 40), max_size=3)) if comparable else {}
        differing = draw(st.floats(0, 1)) * comparable
        made.append(
            Evidence(
                at=START + timedelta(minutes=5 * number),
                answers=answers,
                comparable=comparable,
                failed=answers - comparable - cached,
                cached=cached,
                model_gone=draw(st.booleans()),
                names=names,
                prompt_tokens=draw(st.dictionaries(st.sampled_from("12"), st.none() | st.integers(1, 3))),
                departure=Departure(differing, differing / 2, float(comparable)) if comparable else None,
                logprob_distance=draw(st.none() | st.floats(0, 5)),
                tie=draw(st.floats(0, 1, exclude_max=True)),
            )
        )
    return made


@settings(max_examples=150, deadline=None)
@given(runs())
def test_the_rules_are_a_function_and_their_state_can_be_stored_at_every_step(sequence: list[Evidence]) -> None:
    state = State()
    for run in sequence:
        judgement = judge(state, run, Limits())
        stored = State.from_numbers(json.loads(json.dumps(state.to_numbers())))
        assert judge(stored, run, Limits()) == judgement
        state = judgement.state


@settings(max_examples=150, deadline=None)
@given(runs())
def test_findings_make_sense(sequence: list[Evidence]) -> None:
    state = State()
    down = cached = False
    for run in sequence:
        judgement = judge(state, run, Limits())
        kinds = [found.kind for found in judgement.found]
        for found in judgement.found:
            assert found.began <= run.at, "nothing begins after it was seen"
            assert found.chance is None or 0 <= found.chance <= 1
            json.dumps(dict(found.facts))
        if any(kind.voids for kind in kinds):
            assert judgement.state.collecting
            assert judgement.state.answers is None, "a void baseline is compared with no more"
            assert not judgement.ready
        if Kind.OUTAGE in kinds or Kind.RETIRED in kinds:
            assert not down, "an outage is told once"
            down = True
        if Kind.RECOVERY in kinds:
            assert down, "only what was down recovers"
            down = False
        if Kind.CACHED in kinds:
            assert not cached
            cached = True
        if Kind.UNCACHED in kinds:
            assert cached
            cached = False
        watching(judgement.state)
        state = judgement.state


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(NAMES[1:4]), min_size=1, max_size=12), st.integers(1, 40))
def test_names_seen_while_learning_raise_nothing_afterwards(order: list[str], answers: int) -> None:
    """GIVEN twelve runs that bear these names WHEN the same twelve come again THEN nothing is found."""
    state = State()
    for number in range(48):
        name = order[number % len(order)]
        run = Evidence(START + timedelta(minutes=5 * number), answers, answers, names={name: answers})
        judgement = judge(state, run, Limits())
        assert not judgement.found
        state = judgement.state
