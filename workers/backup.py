"""One file with the whole database, and the way back, by PostgreSQL's own tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from workers.embedded import EmbeddedError, postgres_binaries


class BackupError(RuntimeError):
    """The message says what is missing or what the tool complained of."""


def backup(target: Path) -> int:
    """Writes the database to `target`, for this user's eyes; its size in bytes. A half-written file is removed."""
    part = target.with_name(target.name + ".part")
    part.touch(mode=0o600)
    try:
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--file", str(part), "--dbname", own_url())
    except BackupError:
        part.unlink(missing_ok=True)
        raise
    part.replace(target)
    return target.stat().st_size


def restore(source: Path, url: str, *, replace: bool = False) -> None:
    """Fills the database at `url` from a backup, all of it or nothing. A database with tables needs `replace`."""
    if not source.is_file():
        raise BackupError(f"There is no file {source}.")
    count = _run("psql", "--no-psqlrc", "-qtA", "--dbname", url, "-c",
                 "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")  # fmt: skip
    if int(count) and not replace:
        raise BackupError("That database has tables already. Name an empty one, or add --replace to empty it first.")
    if replace:
        _run("psql", "--no-psqlrc", "-q", "--dbname", url, "-c", "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    _run("pg_restore", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error", "--dbname", url,
         str(source))  # fmt: skip


def own_url() -> str:
    """Where this installation's data is, the password apart: it goes through the environment."""
    of = connection.settings_dict
    user = f"{quote(of['USER'])}@" if of["USER"] else ""
    host, port = of["HOST"] or "", of["PORT"] or ""
    if host.startswith("/"):
        return f"postgresql://{user}/{quote(of['NAME'])}?host={quote(host)}"
    return f"postgresql://{user}{host}{f':{port}' if port else ''}/{quote(of['NAME'])}"


def _tool(name: str) -> str:
    """Beside the embedded server first: a tool older than its server refuses to work, and that one is the newest."""
    try:
        own = postgres_binaries() / name
    except EmbeddedError:
        own = None
    found = str(own) if own is not None and own.exists() else shutil.which(name)
    if found is None:
        raise BackupError(f"{name} is not on PATH. Install PostgreSQL's client tools.")
    return found


def _run(name: str, *arguments: str) -> str:
    environment = {**os.environ, "PGPASSWORD": settings.DATABASES["default"]["PASSWORD"] or ""}
    done = subprocess.run(
        [_tool(name), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise BackupError(f"{name} failed: {said[-1] if said else 'without a word'}")
    return done.stdout
