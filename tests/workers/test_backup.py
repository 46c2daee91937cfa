"""A backup of a filled database comes back in another one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.core.management import CommandError, call_command

from drift.models import Monitor, Run, Sample
from tests.stack import ROOT, child_environment
from workers.backup import own_url


@pytest.mark.django_db(transaction=True)
def test_everything_comes_back_in_another_database(
    monitor: Monitor, record_answers: Callable[..., Run], tmp_path: Path
) -> None:
    record_answers(monitor, [["a b", "a c"], ["x", "x"]])
    file = tmp_path / "tidegauge.backup"
    call_command("backup", str(file))
    assert file.stat().st_mode & 0o077 == 0

    other = urlunsplit(urlsplit(own_url())._replace(path="/restored"))
    with psycopg.connect(own_url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS restored")
        connection.execute("CREATE DATABASE restored")
    try:
        call_command("restore", str(file), "--into", other)
        with psycopg.connect(other) as connection:
            assert connection.execute("SELECT count(*) FROM drift_sample").fetchone() == (Sample.objects.count(),)
            with pytest.raises(psycopg.errors.CheckViolation):
                connection.execute("UPDATE drift_canary SET max_tokens = 1")
        with pytest.raises(CommandError, match="has tables already"):
            call_command("restore", str(file), "--into", other)
        call_command("restore", str(file), "--into", other, "--replace")
        done = subprocess.run(
            [sys.executable, "manage.py", "status", "--json"],
            cwd=ROOT, env={**child_environment(), "DATABASE_URL": other}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "gpt-x" in done.stdout, done.stderr
    finally:
        with psycopg.connect(own_url(), autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS restored WITH (FORCE)")


@pytest.mark.django_db
def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no file"):
        call_command("restore", str(tmp_path / "none"))
