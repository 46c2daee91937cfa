"""Pictures of a report as inline SVG, coloured by class; words stay beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

WIDTH, HEIGHT = 480, 150
LEFT, BOTTOM, TOP, RIGHT = 40, 24, 8, 12


def curve(points: Sequence[tuple[int, float]], limit: int | None, label: str) -> str:
    """Share of pairs that still agree after each length, as steps; `limit` is marked where it lies."""
    longest = max((length for length, _ in points), default=1) or 1
    x, y = _across(longest), _up
    path = [f"M{x(0):.1f},{y(1):.1f}"]
    for length, share in points:
        path.append(f"H{x(length):.1f}V{y(share):.1f}")
    marks = [*_grid(), f'<path class="line" d="{"".join(path)}"/>']
    if limit is not None:
        at = x(min(limit, longest))
        marks.append(f'<line class="mark" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    for length in sorted({0, longest // 2, longest}):
        marks.append(_text(x(length), HEIGHT - 6, str(length), "middle" if length else "start"))
    return _svg(marks, label)


def bars(parts: Sequence[tuple[int, int, float]], label: str) -> str:
    """Shares of where answers part, by range of positions."""
    if not parts:
        return ""
    highest = max(share for _, _, share in parts) or 1.0
    step = (WIDTH - LEFT - RIGHT) / len(parts)
    marks = []
    for i, (low, _, share) in enumerate(parts):
        height = share / highest * (HEIGHT - BOTTOM - TOP - 14)
        left = LEFT + i * step
        marks.append(
            f'<rect class="bar" x="{left + 2:.1f}" y="{HEIGHT - BOTTOM - height:.1f}" width="{step - 4:.1f}" '
            f'height="{height:.1f}" rx="1"/>'
        )
        if share:
            marks.append(_text(left + step / 2, HEIGHT - BOTTOM - height - 4, f"{share * 100:.0f} %", "middle"))
        marks.append(_text(left + step / 2, HEIGHT - 6, str(low), "middle"))
    return _svg(marks, label)


def _across(longest: int) -> Callable[[float], float]:
    return lambda length: LEFT + length / longest * (WIDTH - LEFT - RIGHT)


def _up(share: float) -> float:
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)


def _grid() -> list[str]:
    marks = []
    for share in (0.0, 0.5, 1.0):
        marks.append(
            f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_up(share):.1f}" y2="{_up(share):.1f}"/>'
        )
        marks.append(_text(LEFT - 5, _up(share) + 4, f"{share * 100:.0f} %", "end"))
    return marks


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(marks: Sequence[str], label: str) -> str:
    return (
        f'<svg class="drawing" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(label, quote=True)}">{"".join(marks)}</svg>'
    )
