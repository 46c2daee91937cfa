"""One arm in full, two arms against each other, and both as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from dashboard.access import may_edit
from dashboard.links import with_query
from dashboard.views.evals.sources import Source, reports_of, source_of, with_other_run
from drift.evals import pictures, standalone, words
from drift.evals.comparison import Comparison, compare, compare_all
from drift.evals.export import answers_as_csv
from drift.evals.export import safe as safe_cell
from drift.evals.outlook import CASE_COST, Outlook, outlook
from drift.evals.read import file_name
from drift.evals.report import DEEPER_REPEATS, report
from drift.measure.evals.scopes import Scope
from drift.models import EvalRun

MOST_FLIPS = 30
TABLES = ("arms", "comparisons", "cases", "answers")
MOST_MOVED = 20


def arm(request: HttpRequest, kind: str, source: UUID, arm: int) -> HttpResponse:
    found = source_of(request, kind, source)
    number = arm
    if number >= len(found.results.arms):
        raise Http404("There is no such arm.")
    asked = report(found.results.arms[number])
    everything = request.GET.get("flips") == "all"
    flipping = asked.flipping if everything else asked.flipping[:MOST_FLIPS]
    context = {
        "source": found,
        "report": asked,
        "number": number,
        "others": [(i, a.name) for i, a in enumerate(found.results.arms) if i != number],
        "axis": pictures.span(
            [e for e in (asked.score and asked.score.estimate, asked.score and asked.score.on_these) if e]
        ),
        "parts_axis": pictures.span([p.score.estimate for p in asked.parts]),
        "flipping": [(flip, flip.tree()) for flip in flipping],
        "more_flips": len(asked.flipping) - len(flipping),
        "all_flips": with_query(request, flips="all"),
        "deeper": DEEPER_REPEATS,
        "can_edit": may_edit(request) and kind == "runs",
    }
    return render(request, "dashboard/evals/arm.html", context)


def versus(request: HttpRequest, kind: str, source: UUID) -> HttpResponse:
    """Two arms of one run, or, with `with`, arms of two runs of the same set: two dates of one endpoint."""
    found, other = with_other_run(request, source_of(request, kind, source))
    a, b = _place(request, found, "a", 0), _place(request, found, "b", _opposite(found, other))
    if a == b:
        raise Http404("An arm is not compared with itself.")
    wanted = request.GET.get("scope", "")
    scope = Scope(wanted) if wanted in {scope.value for scope in Scope} else None
    arms = found.results.arms
    family = compare_all(arms, found.margin, scope) if 2 < len(arms) <= 8 else []
    corrected = next((c for c in family if {c.a, c.b} == {arms[a].name, arms[b].name} and c.a == arms[a].name), None)
    compared = corrected or compare(arms[a], arms[b], found.margin, scope)
    reports = [report(arms[a]), report(arms[b])]
    known = [d.estimate for d in (compared.like, compared.these) if d]
    context = {
        "source": found,
        "other": other,
        "earlier": _earlier(found),
        "comparison": compared,
        "pair": [(a, reports[0]), (b, reports[1])],
        "a": a,
        "b": b,
        "arms": list(enumerate(arms)),
        "axis": pictures.span([r.score.estimate for r in reports if r.score]),
        "reach": pictures.reach(known, compared.margin),
        "moved": compared.moved[:MOST_MOVED],
        "outlook": _outlook(request, compared, reports[0].repeats[1]),
        "more_moved": len(compared.moved) - MOST_MOVED,
        "scope_links": _scope_links(request, scope),
    }
    return render(request, "dashboard/evals/versus.html", context)


def _outlook(request: HttpRequest, compared: Comparison, repeats: int) -> Outlook | None:
    """What the next run would see; `case_cost` in the address says what one more case costs, in answers."""
    if compared.noise is None or repeats < 2:
        return None
    try:
        case_cost = float(request.GET.get("case_cost", CASE_COST))
    except ValueError:
        case_cost = CASE_COST
    case_cost = min(max(case_cost, 0.0), 1e6) if case_cost == case_cost else CASE_COST
    observed = abs(compared.deciding.estimate.value) if compared.deciding else 0.0
    return outlook(compared.noise, compared.shared, repeats, max(observed, compared.margin), case_cost)


def _scope_links(request: HttpRequest, chosen: Scope | None) -> list[dict[str, Any]]:
    """Which question decides: the one that fits these arms, or a chosen one."""
    links = [{"label": "the one that fits", "url": with_query(request, scope=None), "current": chosen is None}]
    for scope in Scope:
        label = words.SCOPES[scope].split(" (")[0].lower()
        links.append({"label": label, "url": with_query(request, scope=scope), "current": scope is chosen})
    return links


def _opposite(source: Source, other: EvalRun | None) -> int:
    """The arm that the first is compared with unless told otherwise: the other run's first, else the second."""
    return len(source.results.arms) - other.arms.count() if other else 1


def _earlier(source: Source) -> list[EvalRun]:
    """Other runs of the same set that the arms can be compared with."""
    if not isinstance(source.row, EvalRun):
        return []
    runs = EvalRun.objects.filter(version__eval_set=source.row.version.eval_set, answered__gt=0)
    return list(runs.exclude(pk=source.row.pk).select_related("version__eval_set").order_by("-created_at")[:20])


def _place(request: HttpRequest, source: Source, name: str, default: int) -> int:
    text = request.GET.get(name, str(default))
    if not text.isdecimal() or int(text) >= len(source.results.arms):
        raise Http404("There is no such arm.")
    return int(text)


def table(request: HttpRequest, kind: str, source: UUID, table: str) -> HttpResponse | StreamingHttpResponse:
    """The table twin of every picture as CSV; `answers`: every answer in the long form that others read."""
    if table not in TABLES:
        raise Http404(f"There are these tables: {', '.join(TABLES)}.")
    found = source_of(request, kind, source)
    rows = answers_as_csv(found.results) if table == "answers" else _lines(_tables(found, table))
    response = StreamingHttpResponse(rows, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name(found.name)}-{table}.csv"'
    return response


def _tables(source: Source, table: str) -> Iterator[tuple[Any, ...]]:
    reports = reports_of(source)
    if table == "arms":
        yield ("arm", "part", "cases", "answers", "scored", "score", "low", "high", "run_sd", "flipping")
        for r in reports:
            e = r.score.estimate if r.score else None
            spread = r.spread.run_sd if r.spread else None
            figures = (e.value, e.low, e.high) if e else (None, None, None)
            yield (r.name, "", r.cases, r.answers, r.scored, *figures, spread, len(r.flipping))
            for p in r.parts:
                e = p.score.estimate
                yield (r.name, p.name, p.cases, None, None, e.value, e.low, e.high, None, p.flipping)
    elif table == "comparisons":
        yield ("a", "b", "scope", "decides", "difference", "low", "high", "p", "permutation_p", "p_adjusted", "verdict")
        for c in compare_all(source.results.arms, source.margin):
            for scope, d in ((Scope.SAMPLE, c.like), (Scope.THESE, c.these)):
                if d:
                    ends = (d.estimate.value, d.estimate.low, d.estimate.high)
                    decides = scope is c.scope
                    verdict = c.verdict.value if decides else None
                    yield (c.a, c.b, scope.value, decides, *ends, d.p, d.permuted_p, c.p_adjusted, verdict)
    else:
        yield ("arm", "case", "mean", "scored", "flips")
        for arm_ in source.results.arms:
            for case in arm_.cases:
                scores = case.scores
                mean = sum(scores) / len(scores) if scores else None
                yield (arm_.name, case.key, mean, len(scores), len(set(scores)) > 1)


def _lines(rows: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    for row in rows:
        buffer = io.StringIO()
        csv.writer(buffer).writerow([safe_cell(cell) for cell in row])
        yield buffer.getvalue()


def page(request: HttpRequest, kind: str, source: UUID) -> HttpResponse:
    """The report as one file to keep or send. A download: its style is inside it, which a page of ours may not have."""
    found = source_of(request, kind, source)
    comparisons = compare_all(found.results.arms, found.margin) if 1 < len(found.results.arms) <= 8 else []
    body = standalone.render(found.results, reports_of(found), comparisons)
    response = HttpResponse(body, content_type="text/html; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name(found.name)}.html"'
    return response
