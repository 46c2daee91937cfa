"""`manage.py checkup BASE_URL MODEL`: the first examination of an endpoint, from a terminal."""

from __future__ import annotations

import json
import os
import time
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from drift import endpoints, entered
from drift.checkup import life, standalone, start, store, terminal
from drift.checkup.changes import changes
from drift.checkup.plain import to_plain
from drift.checkup.plan import CONCURRENCIES, MAX_TOKENS, REPEATS, Wish
from drift.entered import EntryError
from drift.models import Checkup, Endpoint, EndpointCheck, Suite, Team
from drift.provision import ensure_admin
from workers.checkup.run import perform
from workers.probe.check import perform as check

KEY = "TIDEGAUGE_API_KEY"
PAUSE_S = 1.0


class Command(BaseCommand):
    help = (
        "Asks an endpoint the same questions again and again, quiet and under load, and says how far it repeats. "
        f"The key is read from {KEY} (or OPENAI_API_KEY). Stopped half-way, the same command goes on where it was."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("base_url", help="up to and including /v1")
        parser.add_argument("model")
        parser.add_argument("--repeats", type=int, default=REPEATS, help="answers to each question (20)")
        parser.add_argument("--concurrency", default=",".join(map(str, CONCURRENCIES)), help="in flight (1,8,32)")
        parser.add_argument("--max-tokens", type=int, default=MAX_TOKENS, help="cap of an answer (256)")
        parser.add_argument("--suite", help="name of a suite to ask instead of the check-up's own questions")
        parser.add_argument("--team", help="name of the team that keeps it (the first one)")
        parser.add_argument("--max-cost", help="dollars that may be spent; needs the endpoint's prices")
        parser.add_argument("--cap-tokens", type=int, help="tokens that may be used in all")
        parser.add_argument("--price-in", help="$ per million prompt tokens")
        parser.add_argument("--price-out", help="$ per million completion tokens")
        parser.add_argument("--scored", action="store_true", help="also have it score its own answers (/completions)")
        parser.add_argument("--estimate", action="store_true", help="only say what it would cost")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")
        parser.add_argument("--html", type=Path, help="write the report to this file")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._handle(options)
        except EntryError as error:
            raise CommandError(str(error)) from error

    def _handle(self, options: dict[str, Any]) -> None:
        endpoint = self._endpoint(options)
        wish = _wish(endpoint, options)
        suite = _suite(endpoint, options["suite"])
        going = Checkup.objects.filter(endpoint=endpoint, state__in=[Checkup.State.DUE, Checkup.State.RUNNING]).first()
        if going is None:
            _, planned = start.preview(endpoint, wish, suite)
            self._say(f"{endpoint.name}: {terminal.cost_line(planned)}.")
            if options["estimate"]:
                return
            caps = start.Caps(_money(options["max_cost"], "--max-cost"), options["cap_tokens"])
            going = start.start(endpoint, wish, suite=suite, caps=caps)
        else:
            self._say(f"{endpoint.name}: going on where it was, {going.answered} of {going.wanted} answers are there.")
        self._perform(going)
        self._tell(going, options)

    def _say(self, line: str, ending: str = "\n") -> None:
        """Progress and remarks go beside the result, which may be JSON."""
        self.stderr.write(line, ending=ending)
        self.stderr.flush()

    def _endpoint(self, options: dict[str, Any]) -> Endpoint:
        """The team's endpoint of that address and model, made and checked if need be."""
        team = _team(options["team"])
        url = entered.base_url(options["base_url"])
        known = Endpoint.objects.filter(team=team, base_url=url, model=options["model"], archived_at__isnull=True)
        endpoint = known.order_by("id").first()
        key = os.environ.get(KEY) or os.environ.get("OPENAI_API_KEY") or ""
        if endpoint is None:
            name = f"{options['model']} at {url.split('/')[2]}"[:80]
            endpoint = endpoints.register(
                team=team, user=None, name=name, base_url=url, model=options["model"], api_key=key
            )
        elif key and _reveal(endpoint) != key:
            endpoints.change(endpoint, None, api_key=key)
        prices = {name: _money(options[name], f"--{name.replace('_', '-')}") for name in ("price_in", "price_out")}
        if given := {name: price for name, price in prices.items() if price is not None}:
            Endpoint.objects.filter(pk=endpoint.pk).update(**given)
        if not endpoints.is_checked(endpoint):
            self._say(f"Asking what {endpoint.name} accepts …")
            due = endpoints.recheck(endpoint, None)
            check(due.pk)
            due.refresh_from_db()
            if due.state == EndpointCheck.State.FAILED:
                raise CommandError(due.problem)
        endpoint.refresh_from_db()
        return endpoint

    def _perform(self, checkup: Checkup) -> None:
        """Until it is over, whoever does it: a worker may have taken it."""
        said = ""
        while not checkup.over:
            life.reap(timezone.now())
            perform(checkup.pk, lambda done: self._say(f"\r{terminal.progress_bar(done, checkup.wanted)}", ending=""))
            checkup.refresh_from_db()
            if not checkup.over:
                if checkup.problem and checkup.problem != said:
                    said = checkup.problem
                    self._say(f"\n{said}; waiting …")
                time.sleep(PAUSE_S)
        self._say("")

    def _tell(self, checkup: Checkup, options: dict[str, Any]) -> None:
        if checkup.problem:
            self._say(checkup.problem)
        report = store.report_of(checkup)
        if report is None:
            raise CommandError("Nothing was answered, so there is nothing to report.")
        before = store.previous_of(checkup)
        earlier = store.report_of(before) if before else None
        changed = None
        if before is not None and earlier is not None:
            changed = changes(store.examination_of(checkup), store.examination_of(before), report, earlier)
        if options["json"]:
            whole = {"report": to_plain(report), "changes": to_plain(changed)}
            self.stdout.write(json.dumps(whole, indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(terminal.lines(report)))
            if changed is not None:
                self.stdout.write(f"\nAgainst {changed.before:%-d %b %Y %H:%M} UTC: {changed.sentence}")
        if options["html"]:
            options["html"].write_text(standalone.render(report, changed))
            self._say(f"Written: {options['html']}")


def _team(name: str | None) -> Team:
    if name is None:
        return Team.objects.order_by("id").first() or ensure_admin().user.teams.order_by("id")[0]
    team = Team.objects.filter(name=name).first()
    if team is None:
        raise CommandError(f"There is no team called {name}.")
    return team


def _suite(endpoint: Endpoint, name: str | None) -> Suite | None:
    if name is None:
        return None
    found = Suite.objects.filter(team=endpoint.team, name=name).order_by("-version").first()
    if found is None:
        raise CommandError(f"The team has no suite called {name}.")
    return found


def _wish(endpoint: Endpoint, options: dict[str, Any]) -> Wish:
    try:
        levels = tuple(int(part) for part in options["concurrency"].split(","))
    except ValueError:
        raise CommandError("--concurrency takes whole numbers with commas between them, such as 1,8,32.") from None
    if max(levels) > endpoint.max_concurrency:
        Endpoint.objects.filter(pk=endpoint.pk).update(max_concurrency=max(levels))
        endpoint.max_concurrency = max(levels)
    usual = start.usual(endpoint)
    return start.checked(
        Wish(
            repeats=options["repeats"],
            concurrencies=levels,
            max_tokens=options["max_tokens"],
            prefix_words=usual.prefix_words,
            scored=options["scored"] or usual.scored,
        )
    )


def _money(text: str | None, what: str) -> Decimal | None:
    try:
        return Decimal(text) if text else None
    except InvalidOperation:
        raise CommandError(f"{what} takes an amount in dollars, such as 2.50.") from None


def _reveal(endpoint: Endpoint) -> str:
    return endpoints.target_of(endpoint).api_key
