"""The rules: (state, evidence) -> (state, findings). Pure: no clock, no database, no chance but what evidence carries.

The order is that of docs/alerts.md: does it answer; freshly; is the prompt counted as before; who answers; did answers
move. What voids the baseline ends the step: the next datum is taken from the first run after the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from drift.findings import identity_rules, service_rules
from drift.findings.answer_rules import Answers, Logprobs, mix_moved
from drift.findings.evidence import Evidence, Found, Limits
from drift.findings.identities import Identities
from drift.findings.kinds import Kind
from drift.findings.service_rules import MOSTLY, Service
from drift.findings.tracker import Run, Tracker
from drift.measure.identity import IdentityKind

SURE = 0.001  # chance below which answers are said to have moved with a name


@dataclass(frozen=True, slots=True)
class State:
    """Everything remembered of one series. `collected`: runs of the baseline being taken; None when it is valid."""

    collected: int | None = 0
    wanted: int = 12
    identities: Identities = field(default_factory=Identities)
    service: Service = field(default_factory=Service)
    answers: Answers | None = None
    logprobs: Logprobs | None = None
    mix: Tracker | None = None
    mix_main: str = ""

    @property
    def collecting(self) -> bool:
        return self.collected is not None

    def to_numbers(self) -> dict[str, Any]:
        """Plain values for a JSON column; `from_numbers` gives back an equal state."""
        return {
            "collected": self.collected,
            "wanted": self.wanted,
            "identities": self.identities.to_numbers(),
            "service": self.service.to_numbers(),
            "answers": self.answers.to_numbers() if self.answers else None,
            "logprobs": self.logprobs.to_numbers() if self.logprobs else None,
            "mix": self.mix.to_numbers() if self.mix else None,
            "mix_main": self.mix_main,
        }

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> State:
        if not numbers:
            return cls()
        return cls(
            collected=numbers["collected"],
            wanted=int(numbers["wanted"]),
            identities=Identities.from_numbers(numbers["identities"]),
            service=Service.from_numbers(numbers["service"]),
            answers=Answers.from_numbers(numbers["answers"]) if numbers["answers"] else None,
            logprobs=Logprobs.from_numbers(numbers["logprobs"]) if numbers["logprobs"] else None,
            mix=Tracker.from_numbers(numbers["mix"]) if numbers["mix"] else None,
            mix_main=numbers["mix_main"],
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run leads to. `extra`: ask again at once. `ready`: the baseline being taken has its runs."""

    state: State
    found: tuple[Found, ...] = ()
    extra: bool = False
    ready: bool = False


def judge(state: State, run: Evidence, limits: Limits) -> Judgement:
    """One step. The truth table is in docs/alerts.md."""
    service, found = service_rules.answered(state.service, run)
    service, of_cache = service_rules.fresh(service, run)
    found += of_cache
    state = replace(state, service=service)
    if any(each.kind.voids for each in found):
        return Judgement(begun_anew(state), found)
    if not run.comparable or service.cached:
        return Judgement(state, found)

    service, of_count, extra = service_rules.counted(service, run)
    seen = identity_rules.see(state.identities, run.names, run.at)
    state = replace(state, service=service, identities=seen.identities)
    extra = extra or seen.extra
    state = _looked(state, run)
    confirmed = of_count + tuple(each for each in seen.found if each.kind.voids)
    if confirmed:
        return _changed(state, found + of_count + seen.found)
    found += seen.found

    moved = state.answers.moved(limits.answers) if state.answers else None
    if moved and (named := identity_rules.changed(state.identities, run.at, sure=True)) and named.kind.voids:
        surest = min(chance for chance in (named.chance, moved.chance) if chance is not None)
        named = replace(named, chance=surest)
        state = replace(state, identities=identity_rules.renewed(state.identities))
        return _changed(state, (*found, named))
    shifted = mix_moved(state.mix, state.mix_main, limits.mix) if state.mix else None
    if shifted:
        now = run.names.get(state.mix_main, 0) / max(1, sum(run.names.values()))
        found += (replace(shifted, facts={**shifted.facts, "now": now}),)
        state = replace(state, mix=None)
    if moved:
        return Judgement(begun_anew(state), (*found, moved), extra=True)
    told = state.logprobs.moved(limits.logprobs) if state.logprobs else None
    if told:
        found += (told,)
        state = replace(state, logprobs=None)
        extra = True
    if any(each.kind in (Kind.VANISHED, Kind.FINGERPRINT_KEY) for each in found):
        state = replace(state, mix=None)
    state = _grown(state, run, limits.miss)
    if state.collected is not None and run.comparable >= MOSTLY * run.answers:
        state = replace(state, collected=state.collected + 1)
    ready = state.collected is not None and state.collected >= state.wanted and not state.identities.taken_over
    return Judgement(state, found, extra, ready)


def with_datum(
    state: State,
    answers: Answers | None,
    logprobs: Logprobs | None,
    mix_runs: Sequence[tuple[datetime, Mapping[str, int]]],
    prompt_tokens: Mapping[str, int],
    limits: Limits,
) -> State:
    """The state once its baseline is valid. The mix is watched where several names are all known."""
    main = state.identities.main
    mix = None
    names = state.identities
    if main is not None and len(names.known) > 1 and names.kind == IdentityKind.STABLE_SET and not names.in_stretches:
        runs = [Run(at, float(names.get(main, 0)), float(sum(names.values()))) for at, names in mix_runs]
        mix = Tracker.begin(runs, limits.miss)
    return replace(
        state,
        collected=None,
        answers=answers,
        logprobs=logprobs,
        mix=mix,
        mix_main=main if mix and main else "",
        service=replace(state.service, prompt_tokens={**state.service.prompt_tokens, **prompt_tokens}),
    )


def begun_anew(state: State, collected: int = 0) -> State:
    """The state when its baseline is void: the next is being taken."""
    return replace(state, collected=collected, answers=None, logprobs=None, mix=None, mix_main="")


def watching(state: State) -> str:
    """What may be changing, as one name; '' where nothing is."""
    if state.identities.since and state.identities.learned and state.identities.new_names:
        return state.identities.new_names[0]
    return ""


def _looked(state: State, run: Evidence) -> State:
    if state.answers and run.departure:
        state = replace(state, answers=state.answers.look(run.at, run.departure, run.tie))
    if state.logprobs and run.logprob_distance is not None:
        state = replace(state, logprobs=state.logprobs.look(run.at, run.logprob_distance, run.tie))
    if state.mix and state.identities.in_stretches:
        state = replace(state, mix=None)
    if state.mix:
        # ties of the mix are drawn apart from those of the answers
        state = replace(state, mix=state.mix.look(_mix_of(state, run), run.tie * 7919 % 1))
    return state


def _changed(state: State, found: tuple[Found, ...]) -> Judgement:
    """A confirmed change: whether the answers moved with it, as far as they say so already."""
    extra: tuple[Found, ...] = ()
    if state.answers and state.answers.raw.chance <= SURE:
        moved = state.answers.moved(0.0)
        if moved is not None:
            facts = {**moved.facts, "formatting": moved.kind is Kind.FORMATTING}
            extra = (Found(Kind.BEHAVIOURAL, moved.began, moved.chance, facts),)
    named = any(each.kind.voids and each.kind is not Kind.PROMPT_TOKENS for each in found)
    return Judgement(begun_anew(state, collected=state.identities.runs if named else 2), found + extra, extra=True)


def _grown(state: State, run: Evidence, miss: float) -> State:
    """The datum with a calm run, while it still grows."""
    if state.identities.since or not run.departure:
        return state
    if state.answers:
        grown = state.answers.raw.grow(Run(run.at, run.departure.differing, run.departure.answers), miss)
        state = replace(state, answers=replace(state.answers, raw=grown))
    if state.mix:
        state = replace(state, mix=state.mix.grow(_mix_of(state, run), miss))
    return state


def _mix_of(state: State, run: Evidence) -> Run:
    """How many of the answers with a known name bear the commonest one."""
    known = {key: n for key, n in run.names.items() if key in state.identities.known}
    return Run(run.at, float(known.get(state.mix_main, 0)), float(sum(known.values())))
