"""One sentence over all endpoints: what is worst, what follows, and one more for who reads on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from drift import figures
from drift.cards import Card
from drift.models import Baseline
from drift.rows import Row
from drift.states import State


@dataclass(frozen=True, slots=True)
class Verdict:
    """The sentence over all endpoints, what follows from it, and one more for who reads on."""

    headline: str
    consequence: str = ""
    detail: str = ""
    worst: State = State.STABLE


def verdict(rows: Sequence[Row], told: Sequence[Card], now: datetime) -> Verdict:
    """One sentence: what is worst, then what follows, then what temperature 0 is worth here."""
    if not rows:
        return Verdict("No endpoint is watched yet.", worst=State.NO_DATA)
    by_state = {state: [row for row in rows if row.state == state] for state in State}
    if changed := by_state[State.CHANGED]:
        since = min((i.began_at for row in changed for i in row.incidents), default=now)
        detail = " ".join(part for part in (_being_taken(changed), _agreement_sentence(rows)) if part)
        headline = f"{_some(changed, rows)} changed since {_day_or_hour(since, now)}."
        return Verdict(headline, _void_baselines(changed, told), detail, State.CHANGED)
    if down := by_state[State.DOWN]:
        what = ", ".join(row.name for row in down[:3])
        headline = f"{_some(down, rows)} cannot be asked."
        return Verdict(headline, f"{what}: {down[0].reason}.", _agreement_sentence(rows), State.DOWN)
    measured = [row for row in rows if row.reading is not None and row.reading.divergence is not None]
    if not measured:
        if all(row.state == State.PAUSED for row in rows):
            return Verdict("Everything is paused.", "Nothing is being asked.", worst=State.PAUSED)
        wait = "Figures appear when each canary has two answers."
        return Verdict("The first answers are on their way.", "", wait, State.NO_DATA)
    diverging = [row for row in measured if row.diverges]
    watching = by_state[State.WATCHING]
    calm = f"{_some(watching, rows)} may be changing." if watching else "No endpoint changed."
    worst = State.WATCHING if watching else State.STABLE
    if not diverging:
        if any(row.reading is not None and (row.reading.total_agreement or 0) < 1 for row in measured):
            first = "Only the first answers of a run differed from the later ones, as from a cold cache."
            return Verdict(calm, first, _limits(measured), worst)
        return Verdict(calm, "Every prompt got the same answer every time.", _limits(measured), worst)
    zero = " at temperature 0" if all(row.temperature_zero for row in diverging) else ""
    verb = "gives" if len(diverging) == 1 else "give"
    headline = f"{_some(diverging, measured)} {verb} different answers to the same prompt{zero}."
    return Verdict(headline, calm if watching else "", _agreement_sentence(rows), worst)


def _day_or_hour(since: datetime, now: datetime) -> str:
    """'14:05' of the last hours, 'Tuesday' within six days, '3 Nov' before."""
    there, here = timezone.localtime(since), timezone.localtime(now)
    if now - since < timedelta(hours=18):
        return f"{there:%H:%M}"
    return f"{there:%A}" if (here.date() - there.date()).days <= 6 else f"{there.day} {there:%b}"


def _void_baselines(changed: Sequence[Row], told: Sequence[Card]) -> str:
    """What can no longer be compared with: 'Baseline “May” of gpt-4o no longer holds.'"""
    names = {row.endpoint_id: row.name for row in changed}
    void = {b.pk: (b, endpoint) for card in told for b, endpoint in card.void_of if endpoint in names}
    if not void:
        return ""
    if len(void) > 1:
        return f"{len(void)} baselines no longer hold."
    baseline, endpoint = next(iter(void.values()))
    what = f"Baseline “{baseline.name}”" if baseline.name else "The baseline"
    return f"{what} of {names[endpoint]} no longer holds."


def _being_taken(changed: Sequence[Row]) -> str:
    for row in changed:
        if row.datum and row.datum.state == Baseline.State.COLLECTING:
            return f"A new baseline is being taken: {row.datum.runs_count} of {row.datum.wanted_runs} runs."
    return ""


def _some(rows: Sequence[Row], of: Sequence[Row]) -> str:
    """'2 of 14 endpoints'; the name where there is only one."""
    return rows[0].name if len(of) == 1 else f"{len(rows)} of {figures.plural(len(of), 'endpoint')}"


def _agreement_sentence(rows: Sequence[Row]) -> str:
    """The endpoint that disagrees most with itself, and the one asked most of those that never did."""
    measured = [(row.name, row.reading) for row in rows if row.reading is not None and row.reading.pairs]
    worst = max(measured, key=lambda pair: pair[1].divergence or 0, default=None)
    exact = [pair for pair in measured if not pair[1].pairs_differing]
    parts = []
    if worst and worst[1].pairs_differing:
        share = figures.percent(worst[1].divergence)
        parts.append(f"Two answers of {worst[0]} to one prompt differ in {share} of pairs.")
    if exact:
        name, reading = max(exact, key=lambda pair: pair[1].pairs)
        parts.append(f"{name} never differed: 0 of {figures.plural(reading.pairs, 'pair')}.")
    return " ".join(parts)


def _limits(rows: Sequence[Row]) -> str:
    pairs = sum(row.reading.pairs for row in rows if row.reading)
    return f"0 of {figures.plural(pairs, 'pair')} of answers differed in the last 24 hours."
