"""Pictures of every page at three widths in both themes, from a scene made up here: `make screenshots`.

Needs a database and Chromium. Everything in the database is replaced.
"""

from __future__ import annotations

import os
import sys
import threading
from datetime import timedelta
from pathlib import Path

WIDTHS = (320, 768, 1440)
THEMES = ("light", "dark")
LOCALE = os.environ.get("SCREENSHOTS_LOCALE", "en-US")


def main(out: Path, only: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "drift.settings")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.test.utils import override_settings

    plain = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    with override_settings(STORAGES=plain, WHITENOISE_USE_FINDERS=True, WHITENOISE_AUTOREFRESH=True):
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        call_command("migrate", verbosity=0)
        pages = scene()
        with_server(lambda url: shoot(url, {k: v for k, v in pages.items() if not only or k in only}, out))


def scene() -> dict[str, str]:
    """Builds the scene; returns the pages by name."""
    from django.urls import reverse
    from django.utils import timezone

    from drift.models import Canary, Incident, Membership, Sample, Team, User
    from tests.browser import beside, scenery

    team = Team.objects.create(name="Eval team")
    user = User.objects.create_user("ada", "ada@example.org", "low tide at noon")
    Membership.objects.create(team=team, user=user, role="owner")
    empty = Team.objects.create(name="New team")
    newcomer = User.objects.create_user("newcomer", "new@example.org", "low tide at noon")
    Membership.objects.create(team=empty, user=newcomer, role="owner")
    now = timezone.now()
    made = scenery.build(team, now - timedelta(minutes=1))
    scenery.beat(now)
    fast, waiting = made["smollm2 · fast"], made["local-vllm"]
    feynman = Canary.objects.get(name="Short fact")
    llama = made["llama-3.3-70b"]
    sample = Sample.objects.filter(canary=feynman).order_by("-scheduled_for").first()
    assert sample
    mine = Sample.objects.filter(canary=feynman, series__endpoint=fast).order_by("-scheduled_for")[0]
    suite = fast.monitors.get().suite
    beside.marked(team, fast, user, now)
    incident = Incident.objects.filter(team=team).first()
    assert incident
    return {
        "replay": reverse("trial", args=[beside.replayed(mine, user, now).public_id]),
        "dry-run": reverse("trial", args=[beside.tried(suite, fast, user, now).public_id]),
        "suite-edit": reverse("suite-edit", args=[suite.public_id]),
        "mark": reverse("annotation-add"),
        "incidents": reverse("incidents"),
        "incident": reverse("incident", args=[incident.public_id]),
        "feed": reverse("feed"),
        "silences": reverse("silences"),
        "channels": reverse("channels"),
        "checkups": reverse("checkups"),
        "checkup-add": reverse("checkup-add"),
        "fit": reverse("fit"),
        "evals": reverse("evals"),
        "team": reverse("team"),
        "you": reverse("you"),
        "audit": reverse("audit"),
        "overview": "/",
        "overview-24h": "/?span=hour&group=provider",
        "endpoint": reverse("endpoint", args=[fast.public_id]),
        "endpoint-changed": reverse("endpoint", args=[made["gpt-4o"].public_id]) + "?range=30d",
        "endpoint-errors": reverse("endpoint", args=[made["mistral-medium"].public_id]),
        "canary": reverse("canary", args=[fast.public_id, feynman.public_id]),
        "canary-approximate": reverse("canary", args=[llama.public_id, feynman.public_id]),
        "pair": reverse("canary-pair", args=[fast.public_id, feynman.public_id]),
        "sample": reverse("sample", args=[sample.public_id]),
        "add": reverse("endpoint-add"),
        "edit": reverse("endpoint-edit", args=[fast.public_id]),
        "check": reverse("endpoint-check", args=[waiting.public_id]),
        "monitor": reverse("monitor-add", args=[waiting.public_id]),
        "suites": reverse("suites"),
        "suite": reverse("suite", args=[fast.monitors.get().suite.public_id]),
        "inhouse": reverse("inhouse"),
        "compare": reverse("compare"),
        "about": reverse("about"),
        "login": "/login",
        "empty": "/",
    }


def with_server(work) -> None:  # type: ignore[no-untyped-def]
    from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
    from django.core.wsgi import get_wsgi_application

    class Quiet(WSGIRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            if args and str(args[1]) >= "400":
                sys.stderr.write(f"{args[0]} {args[1]}\n")

    server = ThreadedWSGIServer(("127.0.0.1", 0), Quiet, connections_override={})
    server.set_app(get_wsgi_application())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        work(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()


def shoot(url: str, pages: dict[str, str], out: Path) -> None:
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import launch

    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for theme in THEMES:
            for width in WIDTHS:
                sessions = {}
                for name, path in pages.items():
                    who = {"login": "", "empty": "newcomer"}.get(name, "ada")
                    if who not in sessions:
                        context = browser.new_context(
                            viewport={"width": width, "height": 900},
                            color_scheme=theme,
                            timezone_id="Europe/Berlin",
                            locale=LOCALE,
                        )
                        page = context.new_page()
                        page.add_init_script(
                            "addEventListener('securitypolicyviolation', e => console.warn('CSP', e.violatedDirective, "
                            "e.sourceFile, e.lineNumber, e.columnNumber, e.sample, e.target?.outerHTML?.slice(0, 200)))"
                        )
                        page.on("console", lambda m, n=name: m.type in ("error", "warning") and print(f"{n}: {m.text}"))
                        if who:
                            page.goto(f"{url}/login")
                            page.fill("#id_login", who)
                            page.fill("#id_password", "low tide at noon")
                            page.click("main button")
                        sessions[who] = page
                    page = sessions[who]
                    page.goto(url + path)
                    for plot in page.query_selector_all("[data-chart]"):
                        plot.scroll_into_view_if_needed()
                        figure = plot.evaluate("plot => plot.closest('figure').id")
                        page.wait_for_selector(f"#{figure} .main-svg", timeout=20_000)
                    if waiting := page.query_selector("#alike[hx-get]"):
                        waiting.scroll_into_view_if_needed()
                        page.wait_for_selector("#alike h3", timeout=20_000)
                    page.evaluate("scrollTo(0, 0)")
                    page.wait_for_timeout(150)
                    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
                    page.screenshot(path=out / f"{name}-{width}-{theme}.png", full_page=True)
                    if wide:
                        culprit = page.evaluate(
                            "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > "
                            "innerWidth + 1).map(e => e.tagName + '.' + e.className).slice(0, 4).join(' ')"
                        )
                        print(f"{name} at {width}: the page scrolls sideways ({culprit})")
        browser.close()


if __name__ == "__main__":
    main(Path(os.environ.get("SCREENSHOTS", "screenshots")), sys.argv[1:])
