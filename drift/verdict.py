"""One sentence over all endpoints: what is worst, what follows, and one more for who reads on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext, ngettext

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
        return Verdict(gettext("No endpoint is watched yet."), worst=State.NO_DATA)
    by_state = {state: [row for row in rows if row.state == state] for state in State}
    if changed := by_state[State.CHANGED]:
        since = min((i.began_at for row in changed for i in row.incidents), default=now)
        detail = " ".join(part for part in (_being_taken(changed), _agreement_sentence(rows)) if part)
        headline = gettext("{endpoints} changed since {time}.").format(
            endpoints=_some(changed, rows), time=_day_or_hour(since, now)
        )
        return Verdict(headline, _void_baselines(changed, told), detail, State.CHANGED)
    if down := by_state[State.DOWN]:
        what = gettext("{names}: {reason}.").format(
            names=figures.listed(row.name for row in down[:3]), reason=down[0].reason
        )
        headline = gettext("{endpoints} cannot be asked.").format(endpoints=_some(down, rows))
        return Verdict(headline, what, _agreement_sentence(rows), State.DOWN)
    measured = [row for row in rows if row.reading is not None and row.reading.divergence is not None]
    if not measured:
        if all(row.state == State.PAUSED for row in rows):
            return Verdict(gettext("Everything is paused."), gettext("Nothing is being asked."), worst=State.PAUSED)
        wait = gettext("Figures appear when each canary has two answers.")
        return Verdict(gettext("The first answers are on their way."), "", wait, State.NO_DATA)
    diverging = [row for row in measured if row.diverges]
    watching = by_state[State.WATCHING]
    calm = (
        gettext("{endpoints} may be changing.").format(endpoints=_some(watching, rows))
        if watching
        else gettext("No endpoint changed.")
    )
    worst = State.WATCHING if watching else State.STABLE
    if not diverging:
        if any(row.reading is not None and (row.reading.total_agreement or 0) < 1 for row in measured):
            first = gettext("Only the first answers of a run differed from the later ones, as from a cold cache.")
            return Verdict(calm, first, _limits(measured), worst)
        return Verdict(calm, gettext("Every prompt got the same answer every time."), _limits(measured), worst)
    if all(row.temperature_zero for row in diverging):
        pattern = ngettext(
            "{endpoints} gives different answers to the same prompt at temperature 0.",
            "{endpoints} give different answers to the same prompt at temperature 0.",
            len(diverging),
        )
    else:
        pattern = ngettext(
            "{endpoints} gives different answers to the same prompt.",
            "{endpoints} give different answers to the same prompt.",
            len(diverging),
        )
    headline = pattern.format(endpoints=_some(diverging, measured))
    return Verdict(headline, calm if watching else "", _agreement_sentence(rows), worst)


def _day_or_hour(since: datetime, now: datetime) -> str:
    """'14:05' of the last hours, 'Tuesday' within six days, '3 Nov' before."""
    there, here = timezone.localtime(since), timezone.localtime(now)
    if now - since < timedelta(hours=18):
        return f"{there:%H:%M}"
    return figures.weekday(there) if (here.date() - there.date()).days <= 6 else figures.day(there)


def _void_baselines(changed: Sequence[Row], told: Sequence[Card]) -> str:
    """What can no longer be compared with: 'Baseline “May” of gpt-4o no longer holds.'"""
    names = {row.endpoint_id: row.name for row in changed}
    void = {b.pk: (b, endpoint) for card in told for b, endpoint in card.void_of if endpoint in names}
    if not void:
        return ""
    if len(void) > 1:
        return gettext("{number} baselines no longer hold.").format(number=len(void))
    baseline, endpoint = next(iter(void.values()))
    if baseline.name:
        return gettext("Baseline “{baseline}” of {endpoint} no longer holds.").format(
            baseline=baseline.name, endpoint=names[endpoint]
        )
    return gettext("The baseline of {endpoint} no longer holds.").format(endpoint=names[endpoint])


def _being_taken(changed: Sequence[Row]) -> str:
    for row in changed:
        if row.datum and row.datum.state == Baseline.State.COLLECTING:
            return gettext("A new baseline is being taken: {number} of {wanted} runs.").format(
                number=row.datum.runs_count, wanted=row.datum.wanted_runs
            )
    return ""


def _some(rows: Sequence[Row], of: Sequence[Row]) -> str:
    """'2 of 14 endpoints'; the name where there is only one."""
    if len(of) == 1:
        return rows[0].name
    return gettext("{number} of {endpoints}").format(number=len(rows), endpoints=figures.plural(len(of), "endpoint"))


def _agreement_sentence(rows: Sequence[Row]) -> str:
    """The endpoint that disagrees most with itself, and the one asked most of those that never did."""
    measured = [(row.name, row.reading) for row in rows if row.reading is not None and row.reading.pairs]
    worst = max(measured, key=lambda pair: pair[1].divergence or 0, default=None)
    exact = [pair for pair in measured if not pair[1].pairs_differing]
    parts = []
    if worst and worst[1].pairs_differing:
        parts.append(
            gettext("Two answers of {name} to one prompt differ in {share} of pairs.").format(
                name=worst[0], share=figures.percent(worst[1].divergence)
            )
        )
    if exact:
        name, reading = max(exact, key=lambda pair: pair[1].pairs)
        parts.append(
            gettext("{name} never differed: 0 of {pairs}.").format(
                name=name, pairs=figures.plural(reading.pairs, "pair")
            )
        )
    return " ".join(parts)


def _limits(rows: Sequence[Row]) -> str:
    pairs = sum(row.reading.pairs for row in rows if row.reading)
    return gettext("0 of {pairs} of answers differed in the last 24 hours.").format(pairs=figures.plural(pairs, "pair"))
