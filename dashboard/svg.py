"""Small charts as inline SVG: drawn by the server, coloured by the stylesheet, said in words as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe  # every text below is escaped or a number
from django.utils.translation import gettext, gettext_lazy

from drift import figures
from drift.rows import Cell

WIDTH, HEIGHT = 120, 30
# Heights from nothing to all, in quarter pixels, written once.
UP = tuple(f"{HEIGHT - 2 - quarter / 4:g}" for quarter in range(4 * (HEIGHT - 4) + 1))
STRIP_WIDTH = 140
BARS = {"answered": (3, 12), "changed": (0, 18), "failing": (1, 16), "gap": (8, 2)}  # from the top, height
KINDS = {
    "answered": gettext_lazy("{number} answered"),
    "changed": gettext_lazy("{number} after a change"),
    "failing": gettext_lazy("{number} mostly failing"),
    "gap": gettext_lazy("{number} without data"),
}


def sparkline(cells: Sequence[Cell], ceiling: float, what: str) -> SafeString:
    """Divergence over time with its interval band. A gap breaks the line; a lone point is a dot."""
    known = [(i, cell) for i, cell in enumerate(cells) if cell.divergence is not None]
    if not known:
        return format_html('<span class="faint">{}</span>', gettext("not enough data"))
    xs, top = _across(len(cells)), len(UP) - 1

    def path(stretch: Iterable[tuple[int, Cell]], name: str) -> str:
        shares = [(i, (getattr(cell, name) or 0) / ceiling) for i, cell in stretch]
        return "L".join([f"{xs[i]} {UP[round(min(1.0, share) * top)]}" for i, share in shares])

    bands, lines, dots = [], [], []
    for stretch in _unbroken(known):
        if len(stretch) == 1:
            x, y = path(stretch, "divergence").split()
            dots.append(f'<circle class="dot" cx="{x}" cy="{y}" r="1.8"/>')
            continue
        bands.append(f"M{path(stretch, 'high')}L{path(reversed(stretch), 'low')}z")
        lines.append(f"M{path(stretch, 'divergence')}")
    first, last = figures.percent(known[0][1].divergence), figures.percent(known[-1][1].divergence)
    label = escape(gettext("Divergence {what}: from {first} to {last}").format(what=what, first=first, last=last))
    return mark_safe(  # noqa: S308
        f'<svg class="sparkline" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}">'
        f'<path class="floor" d="M0 {HEIGHT - 2}H{WIDTH}"/><path class="band" d="{"".join(bands)}"/>'
        f'<path class="line" d="{"".join(lines)}"/>{"".join(dots)}</svg>'
    )


@cache
def _across(number: int) -> tuple[str, ...]:
    """Where so many hours or days stand, written once: a page has thousands of points."""
    step = WIDTH / max(1, number - 1)
    return tuple(f"{i * step:.0f}" for i in range(number))


def _unbroken(known: Sequence[tuple[int, Cell]]) -> Iterator[list[tuple[int, Cell]]]:
    for _, stretch in groupby(enumerate(known), key=lambda pair: pair[1][0] - pair[0]):
        yield [point for _, point in stretch]


def strip(cells: Sequence[Cell], what: str) -> SafeString:
    """One bar per hour or day: answered (low), changed (full), failing (outline), no data (a dash)."""
    width = STRIP_WIDTH / max(1, len(cells))
    drawn, said = [], []
    for kind, (top, height) in BARS.items():
        places = [i for i, cell in enumerate(cells) if cell.kind == kind]
        if not places:
            continue
        bars = "".join(f"M{i * width:.1f} {top}h{width - 1.2:.1f}v{height}h{1.2 - width:.1f}z" for i in places)
        drawn.append(f'<path class="{kind}" d="{bars}"/>')
        said.append(str(KINDS[kind]).format(number=len(places)))
    label = escape(gettext("{what}: {parts}").format(what=what, parts=figures.listed(said)))
    return mark_safe(  # noqa: S308
        f'<svg class="strip" viewBox="0 0 {STRIP_WIDTH} 18" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}">{"".join(drawn)}</svg>'
    )
