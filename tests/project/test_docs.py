"""The documentation's commands run, its quick start works, its links lead somewhere, its metrics exist."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command, get_commands, load_command_class
from django.utils import timezone

from dashboard.api.api import api
from drift import tokens
from drift.configuration.read import read
from drift.metrics import metrics
from drift.models import Endpoint, Monitor, Run, Team, User
from tests.stack import ROOT

DOCS = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_HERE = {"status", "export", "apply", "backup", "rotate_keys", "prune"}


def blocks(file: Path, language: str) -> list[str]:
    return [body for found, body in BLOCK.findall(file.read_text()) if found == language]


def commands() -> list[Any]:
    """Every command line of the documentation, continued lines joined."""
    found = []
    for file in DOCS:
        for body in blocks(file, "sh"):
            for line in body.replace("\\\n", " ").splitlines():
                if line.strip() and not line.startswith("#"):
                    found.append(pytest.param(line.strip(), id=f"{file.name}: {line.strip()[:60]}"))
    return found


@pytest.mark.parametrize("line", commands())
def test_a_command_exists_and_takes_what_it_is_given(line: str) -> None:
    words = shlex.split(line)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
    elif "manage.py" in words:
        name, *arguments = words[words.index("manage.py") + 1 :]
        known = get_commands()
        assert name in known, line
        app = known[name]
        command = load_command_class(app, name) if isinstance(app, str) else app
        command.create_parser("manage.py", name).parse_args(arguments)
    elif words[:2] == ["docker", "compose"] and "--profile" in words:
        services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
        assert words[words.index("--profile") + 1] in services[words[-1]]["profiles"]
    elif words[0] == "curl":
        path = re.search(r"/api/v1(/[\w/{}-]*)", line)
        assert path
        assert f"/api/v1{path[1]}" in api.get_openapi_schema()["paths"]


def test_commands_that_can_run_here_do(
    team: Team, monitor: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = set()
    for file in DOCS:
        for body in blocks(file, "sh"):
            for line in body.splitlines():
                words = shlex.split(line) if "manage.py" in line else []
                if words and (name := words[words.index("manage.py") + 1]) in RUN_HERE:
                    call_command(name, *words[words.index(name) + 1 :])
                    ran.add(name)
    assert ran == RUN_HERE


@pytest.mark.django_db(transaction=True)
def test_the_quick_start_works(live_server: Any, team: Team, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("requests")
    _, token = tokens.issue(team=team, user=alice, name="docs", scope="write")
    monkeypatch.setenv("TIDEGAUGE_TOKEN", token)
    monkeypatch.setenv("TIDEGAUGE_URL", live_server.url)
    (program,) = blocks(ROOT / "docs" / "api.md", "python")
    exec(compile(program, "docs/api.md", "exec"), {})
    endpoint = Endpoint.objects.get()
    assert (endpoint.name, endpoint.monitors.count()) == ("gpt-x nightly", 1)


def test_the_example_configuration_is_read() -> None:
    (example,) = (body for body in blocks(ROOT / "docs" / "api.md", "yaml") if body.startswith("tidegauge:"))
    assert read(example).monitors[0].suite == "Smoke"


@pytest.mark.parametrize("file", DOCS, ids=lambda file: file.name)
def test_links_lead_to_files(file: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", file.read_text()):
        if not target.startswith(("http://", "https://", "benchmarks/")):  # those are written by the benchmarks
            assert (file.parent / target).exists(), f"{file.name} links to {target}"


def test_rules_and_dashboard_use_metrics_that_exist(monitor: Monitor, record_answers: Callable[..., Run]) -> None:
    record_answers(monitor, [["a b", "a c"], ["x", "x"]])
    known = {metric.name for metric in metrics([monitor.endpoint.team], timezone.now())}
    rules = yaml.safe_load((ROOT / "docs" / "prometheus-alerts.yml").read_text())
    panels = json.loads((ROOT / "docs" / "grafana-dashboard.json").read_text())["panels"]
    asked = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    asked += [target["expr"] for panel in panels for target in panel["targets"]]
    for expression in asked:
        names = set(re.findall(r"tidegauge_\w+", expression))
        assert names
        assert names <= known, expression


def test_every_setting_is_documented() -> None:
    """What the environment can say is in the operations page."""
    told = (ROOT / "docs" / "operations.md").read_text()
    sources = "".join((ROOT / "drift" / f"{name}.py").read_text() for name in ("settings", "login_settings"))
    names = set(re.findall(r'environment\.\w+\(\s*"([A-Z_]+)"', sources)) - {"EMAIL_USE_SSL"}
    missing = sorted(name for name in names if f"`{name}`" not in told)
    assert not missing, missing
