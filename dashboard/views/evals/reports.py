"""One arm in full, two arms against each other, and both as files."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from dashboard.access import may_edit
from dashboard.links import with_query
from dashboard.views.evals.sources import Source, reports_of, source_of, with_other_run
from drift.evals import pictures, standalone
from drift.evals.comparison import Comparison, compare_all, compare_in_family
from drift.evals.outlook import CASE_COST, Outlook, outlook
from drift.evals.read import file_name
from drift.evals.report import DEEPER_REPEATS, report
from drift.evals.tables import TABLES, as_csv
from drift.measure.evals.scopes import Scope
from drift.models import EvalRun

MOST_FLIPS = 30
MOST_MOVED = 20


def arm(request: HttpRequest, kind: str, source: UUID, arm: int) -> HttpResponse:
    found = source_of(request, kind, source)
    number = arm
    if number >= len(found.results.arms):
        raise Http404(_("There is no such arm."))
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
        raise Http404(_("An arm is not compared with itself."))
    wanted = request.GET.get("scope", "")
    scope = Scope(wanted) if wanted in {scope.value for scope in Scope} else None
    arms = found.results.arms
    compared = compare_in_family(arms, a, b, found.margin, scope)
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
    links = [{"label": _("the one that fits"), "url": with_query(request, scope=None), "current": chosen is None}]
    labels = {Scope.SAMPLE: _("cases like these"), Scope.THESE: _("exactly these cases")}
    for scope in Scope:
        links.append({"label": labels[scope], "url": with_query(request, scope=scope), "current": scope is chosen})
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
        raise Http404(_("There is no such arm."))
    return int(text)


def table(request: HttpRequest, kind: str, source: UUID, table: str) -> HttpResponse | StreamingHttpResponse:
    """The table twin of every picture as CSV; `answers`: every answer in the long form that others read."""
    if table not in TABLES:
        raise Http404(_("There are these tables: {tables}.").format(tables=", ".join(TABLES)))
    found = source_of(request, kind, source)
    rows = as_csv(found.results, found.margin, table)
    response = StreamingHttpResponse(rows, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name(found.name)}-{table}.csv"'
    return response


def page(request: HttpRequest, kind: str, source: UUID) -> HttpResponse:
    """The report as one file to keep or send. A download: its style is inside it, which a page of ours may not have."""
    found = source_of(request, kind, source)
    comparisons = compare_all(found.results.arms, found.margin) if 1 < len(found.results.arms) <= 8 else []
    body = standalone.render(found.results, reports_of(found), comparisons)
    response = HttpResponse(body, content_type="text/html; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name(found.name)}.html"'
    return response
