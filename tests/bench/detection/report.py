"""The benchmark's table and picture."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path

from tests.bench.detection.endpoints import ANSWERS, BASELINE_HOURS, WATCHED_HOURS
from tests.bench.detection.outcomes import Delay, FalseAlarms


@dataclass(frozen=True, slots=True)
class Results:
    """All figures by rule and row. `equal`: delays with every threshold set so that the rule's worst null gives 5 %."""

    false_alarms: dict[str, dict[str, FalseAlarms]]
    shipped: dict[str, dict[str, Delay]]
    equal: dict[str, dict[str, Delay]]
    names_quiet: int
    names_total: int
    formatting_told: tuple[int, int]
    series: dict[str, int]


def hours(delay: Delay | None) -> str:
    if delay is None:
        return "-"
    if not isfinite(delay.median):
        return f"not found ({100 * delay.found.value:.0f} %)"
    high = f"{delay.high:.0f}" if isfinite(delay.high) else "never"
    part = "" if delay.found.value == 1 else f", {100 * delay.found.value:.0f} % found"
    return f"{delay.median:.0f} h [{delay.low:.0f}, {high}]{part}"


def fastest(row: dict[str, Delay]) -> str:
    """Who is fastest in a row, by median; ties are ties."""
    best = min((delay.median for delay in row.values()), default=inf)
    return " = ".join(name for name, delay in row.items() if delay.median == best) if isfinite(best) else "nobody"


def worst(results: Results, rule: str) -> float:
    return max(figure.share.value for figure in results.false_alarms[rule].values())


def markdown(results: Results, remarks: dict[str, str]) -> str:
    rules = list(results.false_alarms)
    lines = [
        "# Finding a change: false alarms and delays",
        "",
        f"Simulated endpoints with {ANSWERS} answers an hour: {BASELINE_HOURS // 24} days of baseline, then "
        f"{WATCHED_HOURS // 24} days of watching. "
        "`make bench-detect` makes this page; seeds are fixed. "
        "Budget given to Tidegauge: at most one false alarm in 60 weeks per endpoint, that is 5 % in three weeks.",
        "",
        "![Delays by rule](detect.svg)",
        "",
        "The rules, each re-implemented from its makers' published code or page where it has one:",
        "",
        "- **Tidegauge**: e-detector over the share of differing answers, two-sided, bounds and ranks by quarter of the day, "
        "threshold from the budget (`drift/measure/shares.py`); for log probabilities, ranks of the distance from a reference "
        "(`drift/measure/ranks.py`).",
        "- **CUSUM, 30 points**: two-sided Page CUSUM, k = 0.5, h = 5, standardised by the last 30 hours of baseline, as one "
        "public tool ships it. **CUSUM, two weeks**: the same with all of the baseline.",
        "- **12-sigma rule**: 24 hours before against 24 after, 12 sd of the previous 100 such distances, the latest 48 "
        "skipped: the hourly rule of the best public tracker. **three-day rule**: its daily rule; by more than 0.2 and 4 sd, "
        "three days running.",
        "- **hourly test at 1 %**: each hour's answers against the baseline's share, exact binomial.",
        "- **one run against one baseline**: one answer an hour against one stored answer.",
        "",
        "## False alarms while nothing changes",
        "",
        f"Share of {results.series['null']} endpoints with at least one false alarm in three weeks [95 % interval], "
        "and false alarms per endpoint and month. Every rule as its makers ship it.",
        "",
        "| Endpoint | " + " | ".join(rules) + " |",
        "|---" * (len(rules) + 1) + "|",
    ]
    for null in results.false_alarms[rules[0]]:
        cells = []
        for rule in rules:
            figure = results.false_alarms[rule].get(null)
            cells.append(
                "-"
                if figure is None
                else f"{100 * figure.share.value:.1f} % [{100 * figure.share.low:.1f}, {100 * figure.share.high:.1f}]; "
                f"{figure.per_month:.2f}"
            )
        lines.append(f"| {null} | " + " | ".join(cells) + " |")
    lines += [
        "",
        f"Fingerprints: {results.names_quiet} of {results.names_total} daily looks at flapping identity sets raised no "
        "identity event (budgeted: 5 % in three weeks).",
        "",
        "## Delays at equal false alarms",
        "",
        "Every threshold, ours included, set by simulation so that the worst of the endpoints above gives a false alarm to "
        "5 % in three weeks. Median hours from the first changed run to the alarm [95 % interval of the median], "
        f"{results.series['change']} endpoints with daily rhythm and flapping fingerprints. The last column names the "
        "fastest.",
        "",
        *_delays(results.equal),
        "",
        *(f"- **{row}**: {remark}" for row, remark in remarks.items()),
        "",
        "One run against one baseline is left out here: it knows only 'equal' and 'different', so no threshold brings its "
        "false alarms down to 5 %.",
        "",
        "## Delays as shipped",
        "",
        "The same with each rule's own threshold, to be read beside its false alarms above: a rule that speaks every day "
        "is never late.",
        "",
        *_delays(results.shipped),
        "",
        f"Formatting: of {results.formatting_told[1]} endpoints whose answers only gained white space, "
        f"{results.formatting_told[0]} were reported as a change of formatting and not of content.",
        "",
    ]
    return "\n".join(lines)


def _delays(delays: dict[str, dict[str, Delay]]) -> list[str]:
    rules = list(dict.fromkeys(rule for row in delays.values() for rule in row))
    lines = ["| Change | " + " | ".join(rules) + " | Fastest |", "|---" * (len(rules) + 2) + "|"]
    for change, row in delays.items():
        lines.append(f"| {change} | " + " | ".join(hours(row.get(rule)) for rule in rules) + f" | {fastest(row)} |")
    return lines


def picture(results: Results, path: Path) -> None:
    """Delays at equal false alarms, one line per change, one mark per rule; log hours, 'not found' at the right edge."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "tidegauge", "font.family": "sans-serif"})
    changes = list(results.equal)
    rules = list(dict.fromkeys(rule for row in results.equal.values() for rule in row))
    figure, axes = plt.subplots(figsize=(9.5, 0.5 * len(changes) + 1.9))
    edge = 900.0
    colours = ["#0b6e8a", "#b3541e", "#d99a2b", "#6a5acd", "#7a7a7a", "#3a8f4d"]
    for index, (rule, colour) in enumerate(zip(rules, colours, strict=False)):
        rows = [(y, results.equal[change][rule]) for y, change in enumerate(changes) if rule in results.equal[change]]
        offset = 0.11 * (index - (len(rules) - 1) / 2)
        ours = index == 0
        middles = [min(delay.median, edge) for _, delay in rows]
        axes.hlines(
            [y + offset for y, _ in rows],
            [min(delay.low, edge) for _, delay in rows],
            [min(delay.high, edge) for _, delay in rows],
            color=colour,
            linewidth=2.6 if ours else 1.2,
        )
        axes.scatter(
            middles, [y + offset for y, _ in rows], s=44 if ours else 20, color=colour, label=rule, zorder=3,
            marker="D" if ours else "o",
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(0.8, 1000)
    axes.set_xticks([1, 3, 12, 24, 72, 168, edge], ["1 h", "3 h", "12 h", "1 day", "3 days", "1 week", "not\nfound"])
    axes.set_yticks(range(len(changes)), changes)
    axes.invert_yaxis()
    axes.axvline(12, color="#bbbbbb", linewidth=0.8, linestyle="--")
    axes.set_title(
        "Median delay at equal false alarms: 5 % of unchanged endpoints in three weeks", fontsize=11, loc="left"
    )
    axes.grid(axis="x", color="#eeeeee")
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(which="both", length=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.09), ncols=3, frameon=False, fontsize=9)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
