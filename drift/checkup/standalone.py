"""A report, or several side by side, as one HTML file: no script, nothing fetched, both colour schemes."""

from __future__ import annotations

from html import escape
from pathlib import Path

from django.utils.translation import get_language, gettext

from drift import figures
from drift.checkup import html
from drift.checkup.changes import Changes
from drift.checkup.report import Report
from drift.evals.standalone import STYLE as TABLES

STYLE = Path(__file__).with_name("standalone.css")


def render(report: Report, changed: Changes | None = None) -> str:
    first, *more = report.verdict
    pattern = (
        gettext("{name}, recorded answers of {time} UTC.")
        if report.recorded
        else gettext("{name}, check-up of {time} UTC.")
    )
    lead = pattern.format(name=report.name, time=figures.date_time_comma(report.began))
    said = "".join(f"<p>{escape(one)}</p>" for one in more)
    return page(
        report.name, f"<h1>{escape(first)}</h1>{said}<p>{escape(lead)}</p>{html.body(report, changed)}", named=True
    )


def page(title: str, body: str, named: bool = False) -> str:
    """The frame of a file that stands alone. `body` is HTML already; `named`: the title is no word of ours."""
    data = ' translate="no"' if named else ""
    style = TABLES.read_text() + STYLE.read_text()
    return (
        f'<!doctype html><html lang="{get_language() or "en"}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><title{data}>{escape(title)} · Tidegauge</title><style>{style}</style></head>'
        f"<body><main>{body}</main></body></html>"
    )
