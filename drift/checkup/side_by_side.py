"""Several reports beside each other: figures in rows, and a ranking only as far as intervals allow one."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from drift import figures
from drift.checkup import cells, words
from drift.checkup.report import Report
from drift.evals import pictures
from drift.measure.intervals import Estimate
from drift.measure.paired import paired_difference, unpaired_difference

SURE = 0.05


@dataclass(frozen=True, slots=True)
class Column:
    """One report. `rank`: best and worst place that the comparisons leave open; None without a figure."""

    name: str
    recorded: bool
    questions: int
    answers: int
    divergence: Estimate | None
    total_agreement: Estimate | None
    equal_n: int | None
    distinct_mean: float | None
    answers_mean: float | None
    horizon: int | None
    limit_seen: bool
    recommended_cap: int | None
    tokens_known: bool
    load: str
    seed: str
    identity: str
    latency_ms: float | None
    rank: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class SideBySide:
    """`adaptive`: some were recorded elsewhere, so shares may be biased. `shared`: questions that all were asked."""

    columns: tuple[Column, ...]
    shared: int
    sentence: str
    adaptive: bool


def side_by_side(reports: Sequence[Report]) -> SideBySide:
    values = [
        {one.key: one.divergence for one in report.quiet.questions if one.divergence is not None}
        if report.quiet
        else {}
        for report in reports
    ]
    ranks = open_ranks(values)
    columns = tuple(_column(report, rank) for report, rank in zip(reports, ranks, strict=True))
    shared = set.intersection(*map(set, values)) if values else set()
    return SideBySide(columns, len(shared), _sentence(columns), any(report.recorded for report in reports))


def open_ranks(values: Sequence[dict[str, float]]) -> list[tuple[int, int] | None]:
    """Best and worst place of each by mean divergence, the smallest first.

    One is ahead of another where their difference is sure at 5 % over all pairs together (Holm). Paired over shared
    questions where there are at least five, else unpaired (Welch).
    """
    known = [i for i, one in enumerate(values) if one]
    pairs = []
    for at, i in enumerate(known):
        for j in known[at + 1 :]:
            found = _difference(values[i], values[j])
            if found is not None:
                pairs.append((found[1], i if found[0] < 0 else j, j if found[0] < 0 else i))
    better: list[tuple[int, int]] = []
    for step, (p, ahead, behind) in enumerate(sorted(pairs)):
        if p * (len(pairs) - step) > SURE:
            break
        better.append((ahead, behind))
    places: list[tuple[int, int] | None] = []
    for i in range(len(values)):
        if i not in known:
            places.append(None)
            continue
        before, after = sum(j == i for _, j in better), sum(j == i for j, _ in better)
        places.append((before + 1, len(known) - after))
    return places


def _difference(a: dict[str, float], b: dict[str, float]) -> tuple[float, float] | None:
    """(mean difference, p)."""
    both = [key for key in a if key in b]
    if len(both) >= 5:
        found = paired_difference([a[key] for key in both], [b[key] for key in both], np.random.default_rng(3))
        return None if found is None else (found.difference.value, max(found.p, found.sign_flip_p))
    apart = unpaired_difference(list(a.values()), list(b.values()))
    return None if apart is None else (apart[0].value, apart[1])


def _column(report: Report, rank: tuple[int, int] | None) -> Column:
    quiet = report.quiet
    limit = quiet.horizon if quiet else None
    load = gettext("not asked")
    if report.under_load:
        moving = [one.concurrency for one in report.under_load if one.matters]
        load = gettext("matters from {min}").format(min=min(moving)) if moving else gettext("no difference seen")
    return Column(
        name=report.name,
        recorded=report.recorded,
        questions=len(quiet.questions) if quiet else 0,
        answers=quiet.comparable if quiet else 0,
        divergence=quiet.divergence if quiet else None,
        total_agreement=quiet.total_agreement if quiet else None,
        equal_n=quiet.equal_n if quiet else None,
        distinct_mean=quiet.distinct_mean if quiet else None,
        answers_mean=quiet.answers_mean if quiet else None,
        horizon=limit.length if limit else None,
        limit_seen=bool(limit and limit.limit_seen),
        recommended_cap=limit.recommended_cap if limit else None,
        tokens_known=bool(quiet and quiet.tokens_known),
        load=load,
        seed=gettext("not asked") if report.recorded else figures.words(report.seed.word),
        identity=figures.words(report.identities.kind),
        latency_ms=quiet.latency_ms if quiet else None,
        rank=rank,
    )


def _sentence(columns: Sequence[Column]) -> str:
    ranked = [one for one in columns if one.rank is not None]
    if len(ranked) < 2:
        return gettext("Not enough answers to compare.")
    first = [one.name for one in ranked if one.rank and one.rank[1] == 1]
    last = [one.name for one in ranked if one.rank and one.rank[0] == len(ranked)]
    if not first and not last:
        apart = any(one.rank != (1, len(ranked)) for one in ranked)
        return (
            gettext("No first and no last: the intervals allow part of an order.")
            if apart
            else gettext("No order can be told.")
        )
    if first and last:
        return gettext("{best} repeats best and {worst} repeats least, by more than chance allows.").format(
            best=first[0], worst=last[0]
        )
    if first:
        return gettext("{name} repeats best, by more than chance allows.").format(name=first[0])
    return gettext("{name} repeats least, by more than chance allows.").format(name=last[0])


ADAPTIVE = gettext_noop(
    "How often each item was asked was not ours to choose: if items were repeated until something happened, "
    "shares and places are biased, and only where answers part can be trusted."
)
ROWS = tuple(
    gettext_lazy(name)
    for name in (
        gettext_noop("Place"),
        gettext_noop("Divergence"),
        gettext_noop("All the same"),
        gettext_noop("Distinct"),
        gettext_noop("Repeats to"),
        gettext_noop("Recommended cap"),
        gettext_noop("Load"),
        gettext_noop("Seed"),
        gettext_noop("Identity"),
        gettext_noop("Latency"),
        gettext_noop("Questions"),
        gettext_noop("Answers"),
    )
)


def texts(one: Column) -> tuple[str, ...]:
    """The cells of one column in the order of `ROWS`, as plain text."""
    unit = figures.token_word(2, one.tokens_known)
    places = " – ".join(dict.fromkeys(map(str, one.rank))) if one.rank else "–"
    n = f" (TARr@{one.equal_n})" if one.equal_n else ""
    reach = gettext("{number} {unit}") if one.limit_seen else gettext("{number} {unit}, no end seen")
    return (
        places,
        words.share_of(one.divergence) if one.divergence else str(figures.UNKNOWN),
        f"{words.share_of(one.total_agreement)}{n}" if one.total_agreement else str(figures.UNKNOWN),
        gettext("{number} of {total}").format(
            number=figures.mean(one.distinct_mean), total=figures.mean(one.answers_mean)
        ),
        str(figures.UNKNOWN) if one.horizon is None else reach.format(number=one.horizon, unit=unit),
        str(figures.UNKNOWN) if one.recommended_cap is None else str(one.recommended_cap),
        one.load,
        one.seed,
        one.identity,
        figures.milliseconds(one.latency_ms),
        str(one.questions),
        figures.count(one.answers),
    )


def body(view: SideBySide) -> str:
    """The table, one row per report."""
    if not view.columns:
        return ""
    low, high = pictures.span([one.divergence for one in view.columns if one.divergence])
    axis = figures.span(low, high)
    rows = []
    for one in view.columns:
        place, share, *rest = map(escape, texts(one))
        rows.append(
            (
                f'<b translate="no">{escape(one.name)}</b>',
                place,
                share,
                cells.picture(one.divergence, low, high, one.name),
                *rest,
            )
        )
    note = f"<p>{escape(gettext(ADAPTIVE))}</p>" if view.adaptive else ""
    return note + cells.table(("", *map(str, ROWS[:2]), axis, *map(str, ROWS[2:])), rows)


def whole(view: SideBySide) -> str:
    return f"<h1>{escape(view.sentence)}</h1>{body(view)}"


def as_csv(view: SideBySide) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    head = ("name", "best_place", "worst_place", "divergence", "low", "high", "n", "total_agreement", "repeats_to",
            "limit_seen", "recommended_cap", "tokens_known", "load", "seed", "identity", "latency_ms", "questions",
            "answers")  # fmt: skip
    writer.writerow(head)
    for one in view.columns:
        d = one.divergence
        writer.writerow(
            (
                f"'{one.name}" if one.name[:1] in ("=", "+", "-", "@") else one.name,
                *(one.rank or ("", "")),
                *((d.value, d.low, d.high, d.n) if d else ("", "", "", "")),
                one.total_agreement.value if one.total_agreement else "",
                "" if one.horizon is None else one.horizon,
                one.limit_seen,
                "" if one.recommended_cap is None else one.recommended_cap,
                one.tokens_known,
                one.load,
                one.seed,
                one.identity,
                "" if one.latency_ms is None else one.latency_ms,
                one.questions,
                one.answers,
            )
        )
    return out.getvalue()
