"""The simulator says what its script says: the same for the same seed, and what changes changes when it should."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from drift.answers import Ask, Decoded, Target, Transport
from workers.probe.decode import decode
from workers.simulate import NAMED, Phase, Scenario, Storm, Version
from workers.simulate.exchange import exchange_at
from workers.simulate.scenario import ScenarioError, from_mapping, load

BEGIN = datetime(2026, 9, 1, tzinfo=UTC)
TARGET = Target("http://simulated/v1", "simulated-small", parameters={"temperature": 0, "seed": 7})
PROMPTS = [Ask(({"role": "user", "content": f"Question {number}."},), 60) for number in range(8)]


def answers(
    scenario: Scenario,
    times: int,
    *,
    after: timedelta = timedelta(),
    step: timedelta = timedelta(seconds=1),
    ask: Ask = PROMPTS[0],
    target: Target = TARGET,
) -> list[Decoded]:
    target = replace(target, model=scenario.model)
    return [
        decode(exchange_at(scenario, target, ask, at=BEGIN + after + step * n, begin=BEGIN, index=1000 + n))
        for n in range(times)
    ]


def share_of_mode(found: list[Decoded]) -> float:
    return Counter(answer.text for answer in found).most_common(1)[0][1] / len(found)


def test_the_same_seed_time_and_number_give_the_same_bytes() -> None:
    for name in ("near-ties", "rollout", "flapping"):
        one = exchange_at(NAMED[name], TARGET, PROMPTS[0], at=BEGIN + timedelta(days=1.5), begin=BEGIN, index=5)
        two = exchange_at(NAMED[name], TARGET, PROMPTS[0], at=BEGIN + timedelta(days=1.5), begin=BEGIN, index=5)
        assert one == two


def test_another_seed_gives_other_texts() -> None:
    assert answers(NAMED["exact"], 1)[0].text != answers(replace(NAMED["exact"], seed=2), 1)[0].text


def test_an_exact_endpoint_never_differs_and_a_restless_one_does_at_its_rate() -> None:
    assert share_of_mode(answers(NAMED["exact"], 50)) == 1.0
    scenario = replace(NAMED["near-ties"], ties=1)
    assert 0.62 < share_of_mode(answers(scenario, 400)) < 0.78


def test_a_flip_changes_all_that_follows_and_nothing_before() -> None:
    texts = {answer.text for answer in answers(replace(NAMED["near-ties"], ties=1), 50)}
    assert len(texts) == 2
    one, other = (text.split() for text in texts)
    first = next(position for position, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert 6 <= first <= 10, "the near-tie is where the scenario puts it"
    assert one[first:] != other[first:]
    assert sum(a == b for a, b in zip(one[first:], other[first:], strict=False)) <= 2


def test_near_ties_show_in_the_scores() -> None:
    target = replace(TARGET, parameters={"temperature": 0, "logprobs": True, "top_logprobs": 2})
    tokens = answers(NAMED["exact"], 1, target=target)[0].tokens
    assert tokens is not None
    gaps = [token.top[0][1] - token.top[1][1] for token in tokens]
    assert sum(gap < 0.05 for gap in gaps) == 3
    assert all(gap < 0.05 or gap >= 0.5 - 1e-5 for gap in gaps)


def test_a_fingerprint_set_flaps_by_its_weights() -> None:
    seen = Counter(answer.identity.fingerprint for answer in answers(NAMED["flapping"], 400))
    assert set(seen) == {"fp_aaaaaaaaaa", "fp_bbbbbbbbbb"}
    assert 0.13 < seen["fp_bbbbbbbbbb"] / 400 < 0.27


def test_a_rollout_reaches_its_share_of_traffic_gradually() -> None:
    def new_share(after: timedelta) -> float:
        found = answers(NAMED["rollout"], 200, after=after)
        return sum(answer.identity.fingerprint == "fp_newc0ffee0" for answer in found) / len(found)

    assert new_share(timedelta(hours=23)) == 0
    assert 0.35 < new_share(timedelta(hours=36)) < 0.65
    assert new_share(timedelta(hours=49)) == 1


def test_a_silent_change_moves_answers_at_its_time_and_no_fingerprint() -> None:
    before = answers(NAMED["silent-change"], 200, after=timedelta(hours=22))
    after = answers(NAMED["silent-change"], 200, after=timedelta(hours=25))
    assert share_of_mode(before) > 0.85
    assert share_of_mode(after) < 0.7
    assert len({answer.identity.fingerprint for answer in before + after}) == 1


def test_a_new_version_touches_the_share_of_prompts_it_should() -> None:
    changed = 0
    for prompt in PROMPTS:
        before, after = (answers(NAMED["rollout"], 1, after=timedelta(days=day), ask=prompt)[0] for day in (0, 3))
        changed += before.text[:20] != after.text[:20]
    assert 2 <= changed <= 6


def test_the_daily_rhythm_peaks_in_its_hour() -> None:
    scenario = replace(NAMED["daily-rhythm"], ties=1, phases=(Phase(0.0, Version(flip_rate=0.25)),))
    calm = share_of_mode(answers(scenario, 300, after=timedelta(hours=3)))
    busy = share_of_mode(answers(scenario, 300, after=timedelta(hours=15)))
    assert calm - busy > 0.2


def test_a_storm_refuses_its_share_between_its_times() -> None:
    scenario = replace(NAMED["exact"], storms=(Storm(60, 120, share=0.5, retry_after="9"),))
    outcomes = [[a.outcome.value for a in answers(scenario, 50, after=timedelta(seconds=s))] for s in (0, 60, 121)]
    assert set(outcomes[0]) == set(outcomes[2]) == {"text"}
    assert 10 < outcomes[1].count("throttled") < 40


def test_a_slow_answer_past_the_deadline_is_a_timeout_without_waiting() -> None:
    scenario = replace(NAMED["exact"], latency_ms=10_000)
    assert answers(scenario, 1, target=replace(TARGET, deadline_s=5))[0].outcome == "timeout"


def test_history_and_live_answers_are_the_same_bytes_in_both_transports() -> None:
    whole = answers(NAMED["exact"], 1)[0]
    streamed = answers(NAMED["exact"], 1, target=replace(TARGET, transport=Transport.STREAM))[0]
    assert whole.text == streamed.text


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_scenario_calls_itself_simulated(name: str) -> None:
    scenario = NAMED[name]
    assert scenario.model.startswith("simulated-")
    assert scenario.about
    target = replace(
        TARGET,
        model=scenario.model,
        parameters={},
        cap_parameter="max_completion_tokens" if name == "reasoning" else "max_tokens",
    )
    exchange = exchange_at(scenario, target, PROMPTS[0], at=BEGIN, begin=BEGIN, index=0)
    assert ("x-tidegauge-simulated", "true") in exchange.headers
    echo = decode(exchange).identity.model_echo
    assert echo is None or echo.startswith("simulated-")


def test_a_model_cannot_be_named_as_if_it_were_real() -> None:
    assert Scenario("x", model="gpt-9").model == "simulated-gpt-9"
    echo = answers(Scenario("x", phases=(Phase(0, Version(model_echo="gpt-9")),)), 1)[0].identity.model_echo
    assert echo == "simulated-gpt-9"


def test_a_scenario_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "drill.yaml"
    path.write_text(
        """
about: our own fire drill
model: our-model
phases:
  - version: {fingerprints: [fp_1]}
  - at_s: 600
    share: 0.5
    version: {fingerprints: {fp_1: 0.5, fp_2: 0.5}, salt: 1, flip_rate: 0.2}
storms: [{from_s: 60, to_s: 90}]
support: {refused: [seed]}
"""
    )
    scenario = load(path)
    assert (scenario.name, scenario.model) == ("drill", "simulated-our-model")
    assert scenario.phases[1].version.fingerprints == (("fp_1", 0.5), ("fp_2", 0.5))
    assert scenario.support.refused == ("seed",)


@pytest.mark.parametrize(
    "value", [{"name": "x", "fases": []}, {"name": "x", "phases": [{"versio": {}}]}, {"name": "x", "storms": 5}]
)
def test_a_typing_mistake_in_a_scenario_is_an_error_that_names_it(value: dict[str, object]) -> None:
    with pytest.raises(ScenarioError, match=r"fases|versio|storms"):
        from_mapping(value)


def test_the_command_lists_its_scenarios_and_refuses_unknown_ones() -> None:
    command = [sys.executable, "-m", "workers.simulate"]
    listed = subprocess.run([*command, "--list"], capture_output=True, text=True, check=True, timeout=30)
    assert "silent-change" in listed.stdout
    wrong = subprocess.run(
        [*command, "--scenario", "nonsense"], capture_output=True, text=True, check=False, timeout=30
    )
    assert wrong.returncode == 2
    assert "nonsense" in wrong.stderr
