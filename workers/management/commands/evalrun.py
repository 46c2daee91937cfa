"""`manage.py evalrun SET --arm A --arm B`: runs an eval here and now, and ends with the verdict as its exit code."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from drift.evals import gate, terminal
from drift.evals.comparison import compare_all
from drift.evals.errors import EvalError
from drift.evals.gate import Exit
from drift.evals.plan import ArmPlan, estimate, start
from drift.evals.read import results_of_run
from drift.evals.report import report
from drift.measure.evals.scopes import Scope
from drift.models import Endpoint, EvalRun, EvalVersion, Team
from workers.evals.run import perform

POLL_S = 1.0
CODES = "0 better or equivalent, 1 worse, 2 usage, 3 inconclusive, 4 void or confounded, 5 not finished"


class Command(BaseCommand):
    help = f"Runs an eval set against endpoints and judges the first arm against the others. Exit codes: {CODES}."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("set", help="name of the eval set (its latest version), or public id of a version")
        parser.add_argument(
            "--arm", action="append", required=True, metavar="[NAME=]ENDPOINT",
            help="an endpoint by name; the first arm is the candidate",
        )  # fmt: skip
        parser.add_argument("--template", action="append", default=[], metavar="NAME=FILE", help="an arm's own prompt")
        parser.add_argument("--team", help="name of the team; needed only where there are several")
        parser.add_argument("--repeats", type=int, help="default: the set's")
        parser.add_argument("--max-tokens", type=int, default=256)
        parser.add_argument("--concurrency", type=int, default=4)
        parser.add_argument("--margin", type=float, default=3.0, help="points within which arms are equivalent")
        parser.add_argument("--scope", choices=[scope.value for scope in Scope])
        parser.add_argument("--stop-early", action="store_true", help="two arms: stop when the evidence decides")
        parser.add_argument("--cost-cap", help="dollars; the run pauses there and the command ends with 5")
        parser.add_argument("--token-cap", type=int)
        parser.add_argument("--timeout", type=float, default=3600.0, help="seconds until the command gives up waiting")
        parser.add_argument("--json", action="store_true")
        parser.add_argument("--junit", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run = planned(options)
        except EvalError as error:
            self.stderr.write(f"evalrun: {error}")
            sys.exit(Exit.USAGE)
        self.stderr.write(f"{run}: {run.wanted:,} answers, run {run.public_id}")
        finished = carry_out(run, options["timeout"], self.stderr.write)
        results = results_of_run(run)
        reports = [report(arm) for arm in results.arms]
        scope = Scope(options["scope"]) if options["scope"] else None
        comparisons = compare_all(results.arms, run.margin, scope) if len(reports) > 1 else []
        code = gate.exit_code(reports, comparisons) if finished else Exit.FAILED
        if options["junit"]:
            options["junit"].write_bytes(gate.junit(results, reports, comparisons))
        if options["json"]:
            said = {**gate.as_json(results, reports, comparisons), "exit_code": int(code), "run": str(run.public_id)}
            self.stdout.write(json.dumps(said, indent=2))
        else:
            self.stdout.write(terminal.render(results, reports, comparisons))
        if not finished:
            self.stderr.write(f"evalrun: the run is {run.get_state_display().lower()}: {run.problem or 'out of time'}")
        if code:
            sys.exit(int(code))


def planned(options: dict[str, Any]) -> EvalRun:
    """The run that the options ask for, stored and due. Raises EvalError."""
    team = _team(options["team"])
    version = _version(team, options["set"])
    arms = _arms(team, options["arm"], options["template"])
    repeats = options["repeats"] or version.repeats
    if not 1 <= repeats <= 100:
        raise EvalError(f"--repeats must be 1 to 100, not {repeats}")
    if not 0 < options["margin"] <= 100:
        raise EvalError("--margin must be above 0 and at most 100 points")
    cap = None
    if options["cost_cap"] is not None:
        try:
            cap = Decimal(options["cost_cap"])
        except InvalidOperation:
            raise EvalError(f"--cost-cap must be a number of dollars, not {options['cost_cap']}") from None
        if estimate(version, arms, repeats, options["max_tokens"]).cost is None:
            raise EvalError("an endpoint without prices cannot be held to --cost-cap: set its prices, or --token-cap")
    return start(
        version,
        arms,
        repeats=repeats,
        max_tokens=options["max_tokens"],
        concurrency=options["concurrency"],
        margin=options["margin"] / 100,
        stop_early=options["stop_early"],
        cost_cap=cap,
        token_cap=options["token_cap"],
        name="from the command line",
    )


def carry_out(run: EvalRun, timeout_s: float, say: Any) -> bool:
    """Works on the run, or watches another worker do so, until it is over. False where it did not finish."""
    deadline = time.monotonic() + timeout_s
    said = ""
    while time.monotonic() < deadline:
        run.refresh_from_db()
        if run.state == EvalRun.State.FINISHED:
            return True
        if run.state in (EvalRun.State.PAUSED, EvalRun.State.STOPPED, EvalRun.State.FAILED):
            return False
        if run.problem and run.problem != said:
            said = run.problem
            say(f"waiting: {said}")
        if run.state == EvalRun.State.DUE and (run.not_before is None or run.not_before <= timezone.now()):
            perform(run.pk)
        else:
            time.sleep(POLL_S)
    return False


def _team(name: str | None) -> Team:
    teams = Team.objects.filter(name=name) if name else Team.objects.all()
    found = list(teams[:2])
    if len(found) != 1:
        known = ", ".join(Team.objects.values_list("name", flat=True)[:20]) or "none"
        raise EvalError(f"{'several teams' if found else 'no such team'}; name one with --team. There are: {known}")
    return found[0]


def _version(team: Team, name: str) -> EvalVersion:
    versions = EvalVersion.objects.filter(eval_set__team=team, eval_set__archived_at=None).select_related(
        "eval_set__team"
    )
    found = versions.filter(eval_set__name=name).order_by("-number").first()
    if found is None and len(name) == 36:
        found = next((version for version in versions if str(version.public_id) == name), None)
    if found is None:
        known = ", ".join(sorted(set(versions.values_list("eval_set__name", flat=True))))[:500] or "none"
        raise EvalError(f"there is no eval set '{name}'. There are: {known}")
    return found


def _arms(team: Team, wanted: list[str], templates: list[str]) -> list[ArmPlan]:
    texts: dict[str, str] = {}
    for pair in templates:
        name, _, path = pair.partition("=")
        try:
            texts[name] = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise EvalError(f"--template {pair}: {error}") from None
    endpoints = {e.name: e for e in Endpoint.objects.filter(team=team, archived_at=None)}
    arms = []
    for text in wanted:
        name, _, rest = text.partition("=")
        named = bool(rest) and text not in endpoints
        endpoint = endpoints.get(rest if named else text)
        if endpoint is None:
            known = ", ".join(sorted(endpoints)) or "none"
            raise EvalError(f"there is no endpoint '{rest if named else text}'. There are: {known}")
        label = name if named else ""
        arms.append(ArmPlan(endpoint, label, texts.pop(label or endpoint.name, "")))
    if texts:
        raise EvalError(f"--template names an arm that there is not: {', '.join(texts)}")
    return arms
