"""Small charts as inline SVG: drawn by the server, coloured by the stylesheet, said in words as well."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe  # every text below is escaped or a number

from drift import figures
from drift.overview import Cell

WIDTH, HEIGHT = 120, 30
STRIP_WIDTH, STRIP_HEIGHT = 140, 18


def sparkline(cells: Sequence[Cell], ceiling: float, what: str) -> SafeString:
    """Divergence over time with its interval band. A gap breaks the line; a lone point is a dot."""
    known = [(i, cell) for i, cell in enumerate(cells) if cell.divergence is not None]
    if not known:
        return SafeString('<span class="faint">not enough data</span>')
    step = WIDTH / max(1, len(cells) - 1)

    def x(i: int) -> str:
        return f"{i * step:.1f}"

    def y(value: float | None) -> str:
        return f"{HEIGHT - 2 - min(1.0, (value or 0) / ceiling) * (HEIGHT - 4):.1f}"

    parts = [f'<line class="floor" x1="0" x2="{WIDTH}" y1="{y(0)}" y2="{y(0)}"/>']
    for _, run in groupby(enumerate(known), key=lambda pair: pair[1][0] - pair[0]):
        points = [point for _, point in run]
        if len(points) == 1:
            i, cell = points[0]
            parts.append(f'<circle class="dot" cx="{x(i)}" cy="{y(cell.divergence)}" r="1.8"/>')
            continue
        upper = " ".join(f"{x(i)},{y(cell.high)}" for i, cell in points)
        lower = " ".join(f"{x(i)},{y(cell.low)}" for i, cell in reversed(points))
        line = " ".join(f"{x(i)},{y(cell.divergence)}" for i, cell in points)
        parts.append(f'<polygon class="band" points="{upper} {lower}"/><polyline class="line" points="{line}"/>')
    first, last = known[0][1].divergence, known[-1][1].divergence
    label = escape(f"Divergence {what}: from {figures.percent(first)} to {figures.percent(last)}")
    return mark_safe(  # noqa: S308
        f'<svg class="sparkline" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg>'
    )


def strip(cells: Sequence[Cell], what: str) -> SafeString:
    """One cell per hour or day: answered (low bar), changed (full bar), failing (outline), no data (a dash)."""
    width = STRIP_WIDTH / max(1, len(cells))
    bar = width - 1.2
    drawn = []
    for i, cell in enumerate(cells):
        top, height = {"gap": (8, 2), "answered": (3, 12), "failing": (1, 16), "changed": (0, 18)}[cell.kind]
        drawn.append(
            f'<rect class="{cell.kind}" x="{i * width:.1f}" y="{top}" width="{bar:.1f}" height="{height}" rx="1"/>'
        )
    counts = [(kind, sum(cell.kind == kind for cell in cells)) for kind in ("answered", "changed", "failing", "gap")]
    names = {
        "answered": "answered",
        "changed": "with a new identity",
        "failing": "mostly failing",
        "gap": "without data",
    }
    label = ", ".join(f"{number} {names[kind]}" for kind, number in counts if number)
    return mark_safe(  # noqa: S308
        f'<svg class="strip" viewBox="0 0 {STRIP_WIDTH} {STRIP_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(f"{what}: {label}")}">{"".join(drawn)}</svg>'
    )
