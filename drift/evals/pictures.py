"""Intervals as small drawings: inline SVG without style of its own; whoever shows it brings the colours by class.

Each is stretched to its cell, so it is made of lines and boxes only; words stay outside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from drift.measure.intervals import Estimate

WIDTH, HEIGHT = 240, 20


def interval(estimate: Estimate, low: float, high: float, label: str, kind: str = "") -> str:
    """The interval as a bar with a tick at its figure, on an axis from `low` to `high`. `kind`: one more class."""
    x = _scale(low, high)
    left, right, middle = x(estimate.low), x(estimate.high), x(estimate.value)
    marks = [
        f'<line class="axis" x1="0" x2="{WIDTH}" y1="{HEIGHT / 2}" y2="{HEIGHT / 2}"/>',
        f'<rect class="range" x="{left:.1f}" y="7" width="{max(1.0, right - left):.1f}" height="6" rx="1"/>',
        f'<rect class="value" x="{middle - 1.5:.1f}" y="2" width="3" height="16" rx="1"/>',
    ]
    return _svg(marks, label, f"interval {kind}".strip(), named=True)


def difference(estimate: Estimate, reach: float, margin: float, label: str, kind: str = "") -> str:
    """A difference's interval on an axis from -reach to +reach, with 0 and the margin of equivalence drawn."""
    x = _scale(-reach, reach)
    left, right, middle = x(estimate.low), x(estimate.high), x(estimate.value)
    marks = [
        f'<rect class="margin" x="{x(-margin):.1f}" y="0" width="{x(margin) - x(-margin):.1f}" height="{HEIGHT}"/>',
        f'<line class="axis" x1="0" x2="{WIDTH}" y1="{HEIGHT / 2}" y2="{HEIGHT / 2}"/>',
        f'<line class="zero" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="0" y2="{HEIGHT}"/>',
        f'<rect class="range" x="{left:.1f}" y="7" width="{max(1.0, right - left):.1f}" height="6" rx="1"/>',
        f'<rect class="value" x="{middle - 1.5:.1f}" y="2" width="3" height="16" rx="1"/>',
    ]
    return _svg(marks, label, f"interval difference {kind}".strip())


def passes(count: int, total: int, label: str) -> str:
    """One box per answer, the passed ones filled."""
    width = WIDTH / 2 / max(total, 1)
    marks = [
        f'<rect class="{"passed" if i < count else "failed"}" x="{i * width:.1f}" y="3" width="{max(width - 2, 1):.1f}"'
        f' height="14" rx="1"/>'
        for i in range(total)
    ]
    return _svg(marks, label, "passes", WIDTH // 2)


def rounds(means: Sequence[float], low: float, high: float, label: str) -> str:
    """The score of each round as a bar."""
    width = WIDTH / max(1, len(means))
    span = high - low or 1.0
    marks = []
    for i, mean in enumerate(means):
        height = max(1.0, (mean - low) / span * (HEIGHT - 2))
        marks.append(
            f'<rect class="range" x="{i * width + 2:.1f}" y="{HEIGHT - height:.1f}" width="{width - 4:.1f}"'
            f' height="{height:.1f}" rx="1"/>'
        )
    return _svg(marks, label, "rounds")


def span(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """An axis that holds all intervals: to the nearest ten points outside them, within 0 and 1."""
    if not estimates:
        return 0.0, 1.0
    low = int(min(e.low for e in estimates) * 10 + 1e-9) / 10
    high = -int(-max(e.high for e in estimates) * 10 + 1e-9) / 10
    high = min(1.0, high if high >= max(e.high for e in estimates) else high + 0.1)
    return (low, high) if high > low else (max(0.0, low - 0.1), min(1.0, low + 0.1))


def reach(estimates: Sequence[Estimate], margin: float) -> float:
    """How far a difference's axis goes either way: five points or more, to the next five."""
    furthest = max([abs(end) for e in estimates for end in (e.low, e.high)] + [margin * 1.2])
    return min(1.0, (int(furthest * 20) + 1) / 20)


def _scale(low: float, high: float) -> Callable[[float], float]:
    width = high - low or 1.0
    return lambda value: (min(max(value, low), high) - low) / width * WIDTH


def _svg(marks: Sequence[str], label: str, kind: str, width: int = WIDTH, named: bool = False) -> str:
    """`named`: the label is a name and figures, no words of ours."""
    ours = ' translate="no"' if named else ""
    return (
        f'<svg class="picture {kind}" viewBox="0 0 {width} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label, quote=True)}"{ours}>{"".join(marks)}</svg>'
    )
