"""Every page in Chinese: nothing visible is left in English. Generated from the URL list, over endpoints in every state.

Data is not translated and says so itself with `translate="no"`; `TERMS` are written the same in both languages.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone, translation

from dashboard.templatetags import figures as tags
from drift import figures, incidents, teams
from drift.checkup import start as checkups
from drift.evals.case import Case
from drift.evals.plan import ArmPlan, start
from drift.evals.store import save_version
from drift.findings.kinds import Kind
from drift.models import (
    Canary,
    Capability,
    Channel,
    Checkup,
    Delivery,
    Drill,
    Endpoint,
    EndpointCheck,
    EvalArm,
    EvalUpload,
    EvalVersion,
    Finding,
    Identity,
    Incident,
    Invitation,
    Monitor,
    Run,
    Series,
    StatusLink,
    Suite,
    Team,
    Trial,
    User,
)
from drift.public import badge_signature, status_signature
from drift.said import Said
from tests.browser import scenery
from tests.conftest import person
from tests.dashboard.evals.conftest import QUESTIONS, answered
from tests.dashboard.rows import rows_of
from tests.dashboard.test_checkup_pages import WISH
from tests.dashboard.test_checkup_pages import answered as checked_up
from tests.dashboard.test_every_route import Route, routes
from tests.dashboard.visible import Page, without, words_of_figure
from tests.drift.findings.simulated import fp

CHINESE = {"headers": {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}}
HAN = re.compile(r"[\u4e00-\u9fff]")
LATIN = re.compile(r"[A-Za-z]{2,}")
TERMS = re.compile(
    r"\S+@\S+\.\S+|https?://\S*"  # addresses
    r"|\b(Tidegauge|English|OpenAI|Slack|Webhooks?|GitHub|PyTorch|Plotly|Kaplan|Meier|Wilson|TARr@N"  # names
    r"|API|OpenAPI|JSONL?|CSV|URL|HTML|HTTPS?|SSE|UTC|SVG|CPU|GPU|KV|ID|IP|SHA-256|POST|TLS|SMTP|TOTP"  # what is written so
    r"|tokens?|logprobs?|seed|temperature|top_p|max_tokens|system|user|assistant|tools?"  # of the providers' API
    r"|ms|min|nats?)\b"  # units
)
OF_A_MAIL = {"key", "uidb36"}  # what a link in a mail carries
SIGNING_OUT = {"logout", "account_logout"}
PAGES = [
    route
    for route in routes(get_resolver().url_patterns)
    if not route.path.startswith("/api/v1/") and route.name not in SIGNING_OUT and not set(route.names) & OF_A_MAIL
]


@pytest.fixture
def rows(team: Team, alice: User) -> dict[str, str]:
    """A team in every state, and one row of each kind that addresses name."""
    now = timezone.now()
    made = scenery.build(team, now - timedelta(minutes=1), hours=3)
    scenery.beat(now)
    endpoint = Endpoint.objects.get(pk=made["gpt-4o"].pk)
    run = Run.objects.filter(monitor__endpoint=endpoint).order_by("-scheduled_for")[0]
    rows = rows_of(run, alice)
    suite = Suite.objects.filter(team=team).order_by("pk")[0]
    made["deepseek-chat"].refresh_from_db()
    Trial.objects.update(draft={"name": "Eight questions", "retention_days": 30, "canaries": []})
    asked = checked_up(checkups.start(made["deepseek-chat"], WISH, suite=suite))
    rows |= {"checkup": str(asked.public_id), **_evals(team, endpoint, alice)}
    rows |= {"incident": _incident(endpoint, now), "drill": _drill(team, now)}
    return rows


def _evals(team: Team, endpoint: Endpoint, owner: User) -> dict[str, str]:
    cases = [
        Case(f"q{i}", messages=({"role": "user", "content": text},), targets=("yes",))
        for i, text in enumerate(QUESTIONS)
    ]
    version: EvalVersion = save_version(
        team=team, name="Six questions", cases=cases, grader_descriptions=[{"kind": "includes"}]
    )
    run = answered(
        start(
            version, [ArmPlan(endpoint, "new prompt", system="Be kind."), ArmPlan(endpoint, "old prompt")], repeats=5
        ),
        lambda arm, case, repeat: "the answer is yes" if arm == 0 and case else f"no, {(case + repeat) % 3}",
    )
    lines = "".join(
        f"c{i},{model},{int((i + k) % 3 > 0)},{k}\n" for i in range(20) for model in ("a", "b") for k in range(1, 6)
    )
    upload = EvalUpload.objects.create(
        team=team, name="scores.csv", raw=b"item_id,model,score,epoch\n" + lines.encode()
    )
    return {
        "version": str(version.public_id),
        "evals:run": str(run.public_id),
        "answer": str(run.arms.order_by("position")[0].answers.order_by("pk")[0].public_id),
        "upload": str(upload.public_id),
        "source": str(upload.public_id),
    }


def _incident(endpoint: Endpoint, now: Any) -> str:
    finding = Finding(
        team_id=endpoint.team_id, endpoint=endpoint, kind=Kind.NEW_IDENTITY, severity=Kind.NEW_IDENTITY.severity,
        began_at=now - timedelta(minutes=10), found_at=now, voids=True, chance=1e-4,
        facts={"new": [fp("fp_new")], "old": [fp("fp_old")], "taken_over": True},
    )  # fmt: skip
    incidents.file([finding], now)
    incident = Incident.objects.filter(findings=finding)[0]
    channel = Channel.objects.filter(team_id=endpoint.team_id)[0]
    for state, sent_at in (("due", None), ("sent", now), ("failed", None)):
        Delivery.objects.create(
            channel=channel, incident=incident, kind="alert", ordinal=state, state=state,
            created_at=now, due_at=now, sent_at=sent_at,
        )  # fmt: skip
    return str(incident.public_id)


def _drill(team: Team, now: Any) -> str:
    report = {
        "all_sent": True,
        "seconds": 4.2,
        "channels": [{"name": "row", "state": "sent", "seconds": 4.2, "problem": ""}],
    }
    return str(Drill.objects.create(team=team, requested_at=now, state="finished", report=report).public_id)


def test_a_page_in_chinese_has_nothing_left_in_english(rows: dict[str, str], alice: User, vera: User) -> None:
    newcomer = person("newcomer", Team.objects.create(name="New team"), "owner")
    left = Left()
    for route in PAGES:
        for address in addresses(route, rows):
            left.read(address, client_of(alice).get(address))
            if not route.names:
                left.read(f"{address} (nothing there yet)", client_of(newcomer).get(address))
                left.read(f"{address} (as a stranger)", client_of(None).get(address))
            elif "endpoint" in route.names:
                left.read(f"{address} (as a viewer)", client_of(vera).get(address))
    assert not left.found, left.told()


def test_what_a_form_answers_is_chinese_too(rows: dict[str, str], alice: User) -> None:
    """An empty form sent to every address: what is wrong with it, or what was done."""
    left = Left()
    for route in PAGES:
        if "/account/" in route.path:
            continue
        address = next(addresses(route, rows))
        with transaction.atomic():
            client = client_of(alice)
            left.read(f"POST {address}", client.post(address, follow=True))
            transaction.set_rollback(True)
    assert not left.found, left.told()


def test_english_is_spoken_to_who_asks_for_nothing_else(as_alice: Client, monitor: Monitor) -> None:
    page = Page(as_alice.get("/").content.decode())
    assert page.language == "en"
    assert "Skip to the content" in page.texts


def test_the_browser_is_followed_and_the_cookie_and_the_settings_before_it(alice: User, monitor: Monitor) -> None:
    client = client_of(alice)

    def spoken() -> str:
        return Page(client.get("/").content.decode()).language

    assert spoken() == "zh-hans"
    client.cookies["django_language"] = "en"
    assert spoken() == "en"
    User.objects.filter(pk=alice.pk).update(language="zh-hans")
    assert spoken() == "zh-hans"
    User.objects.filter(pk=alice.pk).update(language="tlh")
    assert spoken() == "en", "a language that is not offered is as none"


def test_the_switch_is_kept_in_the_settings_and_leads_back(alice: User, monitor: Monitor) -> None:
    client = client_of(alice)
    answer = client.post(reverse("language"), {"language": "en", "next": "/about/"})
    assert (answer.status_code, answer["Location"]) == (302, "/about/")
    alice.refresh_from_db()
    assert alice.language == "en"
    assert Page(client.get("/about/").content.decode()).language == "en"
    client.post(reverse("language"), {"language": "tlh", "next": "/about/"})
    alice.refresh_from_db()
    assert alice.language == "en"
    away = client.post(reverse("language"), {"language": "zh-hans", "next": "https://example.org/"})
    assert away["Location"] == "/", "the switch leads nowhere else"


def test_a_stranger_switches_before_signing_in(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    page = client.get("/login").content.decode()
    assert Page(page).language == "en"
    assert client.post(reverse("language"), {"language": "zh-hans"}).status_code == 403
    form = {"language": "zh-hans", "next": "/login", "csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    assert client.post(reverse("language"), form)["Location"] == "/login"
    assert Page(client.get("/login").content.decode()).language == "zh-hans"


def test_dates_numbers_and_durations_follow_the_language() -> None:
    at = datetime(2026, 11, 29, 23, 14, 5, tzinfo=UTC)
    said = {}
    for language in ("en", "zh-hans"):
        with translation.override(language):
            said[language] = (
                tags.moment(at),
                tags.clock(at),
                tags.date_time(at),
                figures.ago(at, at + timedelta(hours=3)),
                figures.percent(0.312),
                figures.count(1_234_567),
                figures.milliseconds(1400),
                figures.cadence(120),
                tags.tokens(1204, False),
            )
    assert said["en"] == (
        "29 Nov 2026, 23:14:05 UTC", "29 Nov 23:14", "29 Nov 2026 23:14", "3 h ago", "31.2 %", "1,234,567", "1.4 s",
        "every 2 minutes", "1,204 approximate tokens",
    )  # fmt: skip
    assert said["zh-hans"] == (
        "2026年11月29日 23:14:05 UTC", "11月29日 23:14", "2026年11月29日 23:14", "3 小时前", "31.2%",
        "1,234,567", "1.4 秒", "每 2 分钟", "1,204 个近似 token",
    )  # fmt: skip


class Left:
    """English that was seen, and where."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = defaultdict(set)
        self.names = known_names()
        self.written = written_plainly()

    def read(self, where: str, answer: Any) -> None:
        kind = answer.get("Content-Type", "")
        if answer.streaming or answer.status_code in (301, 302, 405):
            return
        if kind.startswith("text/html"):
            assert answer.status_code < 500, f"{where} answered {answer.status_code}"
            page = Page(answer.content.decode())
            if page.language.lower() not in ("", "zh-hans"):
                self.found[f"<html lang={page.language}>"].add(where)
            self.note(where, page.sentences(self.names))
        elif ".figure" in where and kind.startswith("application/json"):
            words = words_of_figure(json.loads(answer.content))
            self.note(where, (without(word, self.names) for word in words))

    def note(self, where: str, texts: Iterator[str]) -> None:
        for text in texts:
            if text.rstrip("。") in self.written or ("/report." in where and text in self.names):
                continue
            if LATIN.search(TERMS.sub("", text)) and not HAN.search(text):
                self.found[text].add(re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "…", where))

    def told(self) -> str:
        lines = [f"{text[:160]!r}  ({min(places, key=len)})" for text, places in sorted(self.found.items())]
        return f"{len(lines)} texts are not translated:\n" + "\n".join(lines)


def known_names() -> set[str]:
    """Names that people and providers gave, for where they are not marked: charts, lists, reports as files."""
    endpoints = Endpoint.objects.all()
    names = {
        *(
            name
            for endpoint in endpoints
            for name in (endpoint.name, endpoint.provider, endpoint.model, *endpoint.tags)
        ),
        *Canary.objects.values_list("name", flat=True),
        *Channel.objects.values_list("name", flat=True),
        *(name for suite in Suite.objects.all() for name in (str(suite), suite.name)),
        *EvalArm.objects.values_list("name", flat=True),
        *EvalUpload.objects.values_list("name", flat=True),
        *Identity.objects.values_list("fingerprint", flat=True),
        *User.objects.values_list("username", flat=True),
        *Team.objects.values_list("name", flat=True),
    }
    return names - {""}


def written_plainly() -> set[str]:
    """Reasons that a person wrote, and what the scenery stores as before there were languages: kept as they stand."""
    texts = {
        *Capability.objects.values_list("evidence", flat=True),
        *EndpointCheck.objects.values_list("problem", flat=True),
        *Endpoint.objects.values_list("rest_reason", flat=True),
        *Monitor.objects.values_list("paused_reason", flat=True),
        *Incident.objects.values_list("title", flat=True),
    }
    return {text for text in texts if text and not isinstance(text, Said)}


def client_of(user: User | None) -> Client:
    client = Client(**CHINESE)
    if user:
        client.force_login(user)
    return client


def addresses(route: Route, rows: dict[str, str]) -> Iterator[str]:
    """Where to see a page: an endpoint's for all endpoints, a chart in each of its kinds, a report as a page."""
    some = Endpoint.objects.exclude(series=None).order_by("pk")
    both = "&".join(f"endpoint={endpoint.public_id}" for endpoint in some[:2])
    match route.name:
        case "chart":
            series = Series.objects.filter(endpoint__public_id=rows["endpoint"])[0]
            for chart in ("divergence", "identities", "outcomes", "latency", "canaries"):
                yield route.filled({**rows, "chart": chart, "form": "figure"}) + f"?series={series.public_id}"
        case "inhouse-chart":
            for chart in ("batches", "price"):
                yield route.filled({**rows, "chart": chart, "form": "figure"})
        case "compare" | "compare-chart":
            yield f"{route.filled({**rows, 'form': 'figure'})}?{both}"
        case "compare-report":
            yield f"{route.filled({**rows, 'form': 'html'})}?{both}"
        case "checkup-export":
            yield route.filled({**rows, "form": "html"})
        case _ if route.names == ("checkup",):
            for checkup in Checkup.objects.order_by("pk"):
                yield route.filled({**rows, "checkup": str(checkup.public_id)})
        case "status-page":
            yield route.filled({**rows, "signature": status_signature(StatusLink.objects.all()[0])})
        case "invitation":
            yield route.filled({**rows, "signature": teams.signature_of(Invitation.objects.all()[0])})
        case "badge":
            yield route.filled({**rows, "signature": badge_signature(Endpoint.objects.all()[0])})
        case _ if route.names == ("endpoint",):
            for endpoint in Endpoint.objects.order_by("pk"):
                yield route.filled({**rows, "endpoint": str(endpoint.public_id)})
        case _ if "kind" in route.names:
            yield route.filled({**rows, "kind": "uploads", "source": rows["upload"]})
            yield route.filled({**rows, "kind": "runs", "source": rows["evals:run"]})
        case _:
            yield route.filled(rows)
