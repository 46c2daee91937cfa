"""A file in, the same file out; nothing written when nothing changes; secrets never in it."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from drift.configuration.apply import apply, plan
from drift.configuration.current import current
from drift.configuration.read import ConfigurationError, read
from drift.configuration.references import GivenSecrets, LocalSecrets
from drift.configuration.write import write
from drift.models import AlertRules, AuditEntry, Channel, Endpoint, Monitor, Suite, Team

FILE = """\
tidegauge: 1
endpoints:
- name: gpt-x
  base_url: https://api.example.com/v1
  model: gpt-x
  api_key: ${GPT_X_API_KEY}
  provider: Example
  tags: [production, eval]
  parameters: {temperature: 0, seed: 42}
  price_in: 0.15
suites:
- name: Two questions
  canaries:
  - {name: Fact, prompt: Who was Feynman?, max_tokens: 32}
  - name: With a system message
    messages:
    - {role: system, content: Be brief.}
    - {role: user, content: 'Name three seas: 三个海'}
    max_tokens: 48
monitors:
- {endpoint: gpt-x, suite: Two questions, cadence_s: 120, repeats: 3, tokens_per_day: 100000}
channels:
- {name: Mail, kind: email, address: team@example.org, quiet_from: '22:00', quiet_to: '07:30'}
- {name: Slack, kind: slack, address: '${SLACK_ADDRESS}', least_severity: high}
rules: {false_alarms: 2, period: month}
"""
SECRETS = GivenSecrets({"GPT_X_API_KEY": "sk-abcdefghijkl", "SLACK_ADDRESS": "https://hooks.slack.example/T/B/x"})
NONE = GivenSecrets({})


@contextmanager
def no_writes() -> Iterator[None]:
    with CaptureQueriesContext(connection) as asked:
        yield
    said = [query["sql"] for query in asked if query["sql"].lstrip().split()[0] in ("INSERT", "UPDATE", "DELETE")]
    assert not said, said


def test_a_file_makes_everything_it_names(team: Team) -> None:
    changes = apply(team, read(FILE), SECRETS)
    assert [f"{c.action} {c.kind}" for c in changes] == [
        "create suite", "create endpoint", "create monitor", "create channel", "create channel", "create rules",
    ]  # fmt: skip
    endpoint = Endpoint.objects.get()
    assert endpoint.api_key.reveal() == "sk-abcdefghijkl"
    assert endpoint.checks.count() == 1
    assert Monitor.objects.get().repeats == 3
    assert Channel.objects.get(name="Slack").address_hint == "hooks.slack.example"
    assert AlertRules.objects.get().period == "month"


def test_the_same_file_again_writes_nothing(team: Team) -> None:
    apply(team, read(FILE), SECRETS)
    with no_writes():
        assert apply(team, read(FILE), SECRETS) == []
    with no_writes():
        assert apply(team, read(FILE), NONE) == [], "stored secrets are kept where none is given"


def test_what_is_exported_applies_to_another_team_and_comes_out_the_same(team: Team) -> None:
    apply(team, read(FILE), SECRETS)
    exported = write(current(team).document)
    assert "sk-" not in exported
    assert "hooks.slack" not in exported
    with no_writes():
        assert apply(team, read(exported), NONE) == []

    other = Team.objects.create(name="Copy")
    apply(other, read(exported), SECRETS)
    assert write(current(other).document) == exported


def test_a_changed_canary_makes_the_next_version_and_moves_the_monitor(team: Team) -> None:
    apply(team, read(FILE), SECRETS)
    changes = apply(team, read(FILE.replace("Feynman", "Dirac")), NONE)
    assert [c.kind for c in changes] == ["suite", "monitor"]
    assert list(Suite.objects.order_by("version").values_list("version", flat=True)) == [1, 2]
    assert list(Monitor.objects.order_by("suite__version").values_list("active", flat=True)) == [False, True]
    assert apply(team, read(FILE.replace("Feynman", "Dirac")), NONE) == []


def test_a_dry_run_shows_the_difference_and_hides_secrets(team: Team) -> None:
    apply(team, read(FILE), SECRETS)
    moved = read(FILE.replace("cadence_s: 120", "cadence_s: 300"))
    with no_writes():
        changes = plan(team, moved, GivenSecrets({"GPT_X_API_KEY": "sk-another-key-00"}))[1]
    lines = [line for change in changes for line in change.lines()]
    assert lines == [
        "~ endpoint gpt-x", "    api_key: '(hidden)' -> '(hidden)'",
        "~ monitor gpt-x × Two questions", "    cadence_s: 120 -> 300",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (FILE.replace("repeats: 3", "repeats: 0"), "monitors[0]"),
        (FILE.replace("${GPT_X_API_KEY}", "sk-plain-text"), "secrets do not belong in this file"),
        (FILE.replace("https://api.example.com/v1", "http://10.0.0.1/v1"), "endpoints[0] (gpt-x).base_url"),
        (FILE.replace("provider:", "provder:"), "provder"),
        ("a: &x [1]\nb: *x\n", "line 2"),
        ("- 1", "must hold a mapping"),
        ("endpoints: [", "line"),
        (FILE + "  extra", "line"),
    ],
)
def test_a_mistake_is_told_with_its_place(mistake: str, told: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        read(mistake)
    assert told in str(error.value)


def test_a_new_endpoint_without_its_secret_or_partner_changes_nothing(team: Team) -> None:
    with pytest.raises(ConfigurationError, match="GPT_X_API_KEY"):
        apply(team, read(FILE), NONE)
    with pytest.raises(ConfigurationError, match="no endpoint called 'nobody'"):
        apply(team, read("monitors: [{endpoint: nobody, suite: none}]"), NONE)
    assert not Endpoint.objects.exists()


def test_the_api_never_reads_the_servers_own_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOME_SECRET", "x")
    secret = tmp_path / "secret"
    secret.write_text("y\n")
    assert GivenSecrets({}).get("${SOME_SECRET}") is None
    assert GivenSecrets({}).get(f"file:{secret}") is None
    assert LocalSecrets().get("${SOME_SECRET}") == "x"
    assert LocalSecrets().get(f"file:{secret}") == "y"


def test_five_hundred_objects_within_five_seconds(team: Team) -> None:
    endpoints = "".join(f"- {{name: e{i}, base_url: 'https://api{i}.example.com/v1', model: m}}\n" for i in range(245))
    monitors = "".join(f"- {{endpoint: e{i}, suite: S}}\n" for i in range(245))
    canaries = "".join(f"  - {{name: c{i}, prompt: question {i}, max_tokens: 8}}\n" for i in range(10))
    text = f"endpoints:\n{endpoints}suites:\n- name: S\n  canaries:\n{canaries}monitors:\n{monitors}"
    begun = time.monotonic()
    assert len(apply(team, read(text), NONE)) == 491
    first = time.monotonic() - begun
    begun = time.monotonic()
    with no_writes():
        assert apply(team, read(text), NONE) == []
    second = time.monotonic() - begun
    print(f"500 objects: {first:.2f} s; again without a change: {second:.2f} s")
    assert first <= 5
    assert second <= 2


def test_the_commands_show_and_make_changes(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPT_X_API_KEY", "sk-abcdefghijkl")
    monkeypatch.setenv("SLACK_ADDRESS", "https://hooks.slack.example/T/B/x")
    file = tmp_path / "team.yaml"
    file.write_text(FILE)
    assert "6 would change." in said("apply", str(file), "--dry-run")
    assert not Endpoint.objects.exists()
    assert "+ endpoint gpt-x" in said("apply", str(file))
    assert said("apply", str(file)) == "Nothing to change.\n"
    assert AuditEntry.objects.get(subject="endpoint").via == "command"
    file.write_text(said("export"))
    assert said("apply", str(file)) == "Nothing to change.\n"
    file.write_text("endpoints: [{name: a}]")
    with pytest.raises(CommandError, match=r"base_url: Field required"):
        said("apply", str(file))


def said(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()
