"""The ledger as a table and as a picture."""

from __future__ import annotations

from tests.bench.inference.ledger import SYSTEMS, Ledger

COLOURS = {"fast": "#c4501b", "invariant": "#0b5c9e"}
_HEADS = {
    "fast": "fast",
    "invariant": "invariant",
    "transformers_static": "transformers, static batch",
    "transformers_per_request": "transformers, per request",
    "llama_cpp": "llama.cpp, 4-bit weights",
}


def as_markdown(ledger: Ledger) -> str:
    """Tables per dtype, then the marks."""
    facts = ledger.as_dict()
    about = facts["machine"]
    lines = [
        "# What certainty costs",
        "",
        f"{ledger.model}, {ledger.new_tokens} new tokens per request, {ledger.threads} thread, torch {facts['torch']}, on "
        f"{about['cores']} cores of {about['cpu']} ({about['instructions']}; load {about['load']} at the end of the run).",
        "",
        "Tokens per processor second of one thread, prompts included. Systems take turns step by step on the same",
        "requests, because the machine is shared; on an idle one, a processor second is a second. Made by",
        "`make bench-worker`.",
    ]
    for dtype in ledger.dtypes:
        present = [name for name in SYSTEMS if any(e.system == name and e.dtype == dtype for e in ledger.entries)]
        heads = [_HEADS[name] for name in present]
        lines += [
            "",
            f"## {dtype}",
            "",
            "| batch | "
            + " | ".join(heads)
            + " | invariant / fast | answers that differ from alone, fast | invariant |",
        ]
        lines.append("|---:|" + "---:|" * (len(heads) + 3))
        for batch in ledger.batches(dtype):
            rates = [ledger.rate(dtype, name, batch) for name in present]
            ratio = ledger.ratio(dtype, batch)
            cells = ["" if rate is None else f"{rate:.1f}" for rate in rates]
            cells.append("" if ratio is None else f"{ratio:.2f}")
            cells += [_disagreement(ledger, dtype, name, batch) for name in ("fast", "invariant")]
            lines.append(f"| {batch} | " + " | ".join(cells) + " |")
    lines += ["", "## Marks", "", "| dtype | what | wanted | measured | |", "|---|---|---:|---:|---|"]
    for mark in ledger.marks:
        verdict = "reached" if mark.reached else "not reached"
        lines.append(f"| {mark.dtype} | {mark.name} | {mark.wanted} | {mark.measured:g} | {verdict} |")
    return "\n".join([*lines, ""])


def _disagreement(ledger: Ledger, dtype: str, system: str, batch: int) -> str:
    found = [d for d in ledger.disagreements if (d.dtype, d.system, d.batch) == (dtype, system, batch)]
    return f"{found[0].differing} of {found[0].requests}" if found else ""


def as_svg(ledger: Ledger, dtype: str) -> str:
    """Two panels: answers that differ from alone by batch size, and tokens per second with the ratio on top."""
    batches = [batch for batch in ledger.batches(dtype) if ledger.ratio(dtype, batch) is not None]
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 330" font-family="sans-serif" font-size="12">',
        f"<title>Tokens per second and disagreement by batch size, {dtype}</title>",
        '<rect width="1000" height="330" fill="#fff"/>',
        _text(20, 28, "Does the batch change the answer?", weight="bold", size=14),
        _text(20, 46, f"Answers that differ from those of a request alone, by batch size, {dtype}."),
        _text(520, 28, "What does certainty cost?", weight="bold", size=14),
        _text(520, 46, "Tokens per processor second; the figure is invariant / fast."),
    ]
    parts += _disagreement_panel(ledger, dtype, batches)
    parts += _speed_panel(ledger, dtype, batches)
    return "\n".join([*parts, "</svg>", ""])


def _disagreement_panel(ledger: Ledger, dtype: str, batches: list[int]) -> list[str]:
    shares = {
        name: {
            d.batch: d.differing / d.requests
            for d in ledger.disagreements
            if d.dtype == dtype and d.system == name and d.requests
        }
        for name in COLOURS
    }
    top = max([share for by_batch in shares.values() for share in by_batch.values()] + [0.1])
    parts = _frame(60, top * 100, "%")
    for name, by_batch in shares.items():
        points = [
            (60 + 70 * batches.index(batch), 290 - 210 * share / top) for batch, share in sorted(by_batch.items())
        ]
        line = " ".join(f"{x},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y:.1f}" r="4" fill="{COLOURS[name]}"/>' for x, y in points]
        if points:
            parts.append(_text(points[-1][0] + 10, points[-1][1] - 6, name, colour=COLOURS[name], weight="bold"))
    return parts + [_text(60 + 70 * index, 310, str(batch), anchor="middle") for index, batch in enumerate(batches)]


def _speed_panel(ledger: Ledger, dtype: str, batches: list[int]) -> list[str]:
    rates = {name: [ledger.rate(dtype, name, batch) or 0.0 for batch in batches] for name in COLOURS}
    top = max(rate for both in rates.values() for rate in both) * 1.1
    parts = _frame(560, top, "")
    for index, batch in enumerate(batches):
        left = 570 + 70 * index
        for offset, name in enumerate(COLOURS):
            height = 210 * rates[name][index] / top
            bar = f'x="{left + 22 * offset}" y="{290 - height:.1f}" width="20" height="{height:.1f}"'
            parts.append(f'<rect {bar} fill="{COLOURS[name]}" rx="2"/>')
        highest = 210 * max(rates[name][index] for name in COLOURS) / top
        ratio = ledger.ratio(dtype, batch) or 0.0
        parts.append(_text(left + 21, 284 - highest, f"{ratio:.0%}", anchor="middle"))
        parts.append(_text(left + 21, 310, str(batch), anchor="middle"))
    return parts


def _frame(left: int, top: float, unit: str) -> list[str]:
    lines = []
    for share in (0, 0.5, 1):
        y = 290 - 210 * share
        lines.append(f'<line x1="{left - 10}" x2="{left + 410}" y1="{y}" y2="{y}" stroke="#e5e3de"/>')
        lines.append(_text(left - 16, y + 4, f"{top * share:.0f}{unit}", anchor="end"))
    return lines


def _text(
    x: float,
    y: float,
    text: str,
    *,
    colour: str = "#333",
    anchor: str = "start",
    weight: str = "normal",
    size: int = 12,
) -> str:
    style = f'fill="{colour}" text-anchor="{anchor}" font-weight="{weight}" font-size="{size}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{text}</text>'
