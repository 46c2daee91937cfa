"""The report over weeks as one HTML file: no script, nothing fetched, both colour schemes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby

from django.utils.translation import gettext, gettext_noop

from drift import figures
from drift.checkup import cells, standalone, words
from drift.evals import pictures
from drift.evals.standalone import element
from drift.weeks.report import OverTime, Weeks, WeeksReport

READING = gettext_noop(
    "Divergence: how often two answers to the same prompt differ, mean over prompts with its 95 % interval. "
    "A place is a range where differences leave it open: one endpoint is ahead of another only where their difference "
    "over shared prompts is sure at 5 % for all pairs together."
)
WIDTH, HEIGHT = 480, 60


def render(report: WeeksReport) -> str:
    lead = gettext("{number} endpoints, {start} to {end} UTC. Made {time} UTC by Tidegauge.").format(
        number=len(report.endpoints),
        start=figures.date(report.start),
        end=figures.date_time(report.end),
        time=figures.date_time(report.made_at),
    )
    parts = [f"<h1>{escape(report.sentence)}</h1><p>{escape(lead)}</p>", table(report)]
    parts += [history(one) for one in report.endpoints]
    parts.append(element("h2", gettext("How to read this")) + element("p", gettext(READING)))
    return standalone.page(gettext("Endpoints over weeks"), "".join(parts))


def table(report: WeeksReport) -> str:
    low, high = pictures.span([one.divergence for one in report.endpoints if one.divergence])
    rows = [_row(one, low, high) for one in report.endpoints]
    axis = figures.span(low, high)
    header = (
        "",
        gettext("Place"),
        gettext("Divergence"),
        axis,
        gettext("Distinct"),
        gettext("Repeats to, 24 h"),
        gettext("New names"),
        gettext("Changes"),
        gettext("Failing"),
        gettext("Latency"),
        "95 %",
        gettext("Cost"),
    )
    return cells.table(header, rows)


def _row(one: Weeks, low: float, high: float) -> tuple[str, ...]:
    place = "–" if one.rank is None else " – ".join(dict.fromkeys(map(str, one.rank)))
    simulated = gettext("simulated")
    made_up = f" ({escape(simulated)})" if one.simulated else ""
    reach = str(figures.UNKNOWN)
    if one.horizon is not None:
        pattern = gettext("{number} {unit}") if one.horizon_limit_seen else gettext("{number} {unit}, no end seen")
        reach = pattern.format(number=one.horizon, unit=figures.token_word(one.horizon, one.tokens_known))
    return (
        f'<b translate="no">{escape(one.name)}</b>{made_up}<br>'
        f'<small translate="no">{escape(one.provider)} {escape(one.model)}</small>',
        place,
        cells.share(one.divergence),
        cells.picture(one.divergence, low, high, one.name),
        gettext("{number} of {total}").format(
            number=figures.mean(one.distinct_mean), total=figures.mean(one.answers_mean)
        ),
        escape(reach),
        str(one.new_identities),
        str(one.changes_in_all),
        figures.percent(one.failing),
        figures.milliseconds(one.p50_ms),
        figures.milliseconds(one.p95_ms),
        figures.money(one.cost) if one.cost else str(figures.UNKNOWN),
    )


def history(one: Weeks) -> str:
    items = "".join(f"<li>{escape(change.sentence)}</li>" for change in one.changes)
    hidden = one.changes_in_all - len(one.changes)
    more = element("p", gettext("and {number} earlier.").format(number=hidden)) if hidden else ""
    none = escape(gettext("No change was found in this time."))
    changes = f"<ul>{items}</ul>{more}" if items else f"<p>{none}</p>"
    return f'<h2 translate="no">{escape(one.name)}</h2>' + f"{over_time(one.points, one.name)}{changes}"


def over_time(points: Sequence[OverTime], name: str) -> str:
    """Divergence over time with its interval; a gap breaks the line."""
    known = [(i, point) for i, point in enumerate(points) if point.divergence is not None]
    if not known:
        return element("p", gettext("Not enough data to draw."))
    ceiling = max(0.05, *(point.high or point.divergence or 0 for _, point in known))
    step = WIDTH / max(1, len(points) - 1)

    def at(i: int, value: float | None) -> str:
        return f"{i * step:.1f},{HEIGHT - 4 - (value or 0) / ceiling * (HEIGHT - 8):.1f}"

    marks = []
    for _, run in groupby(enumerate(known), key=lambda pair: pair[1][0] - pair[0]):
        part = [pair for _, pair in run]
        band = [at(i, p.high) for i, p in part] + [at(i, p.low) for i, p in reversed(part)]
        line = " ".join(at(i, p.divergence) for i, p in part)
        marks.append(f'<polygon class="range" points="{" ".join(band)}"/><polyline class="line" points="{line}"/>')
    first, last = known[0][1], known[-1][1]
    said = gettext("{name}: divergence from {first} to {last}").format(
        name=name, first=figures.percent(first.divergence), last=figures.percent(last.divergence)
    )
    caption = gettext("{first} to {last}, 0 to {ceiling} %").format(
        first=figures.day(first.at), last=figures.day(last.at), ceiling=words.points(ceiling).lstrip("+")
    )
    return (
        f'<figure class="card"><svg class="drawing" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(said, quote=True)}">{"".join(marks)}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
