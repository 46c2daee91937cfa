"""Settings from the environment, typed, failing loudly. `NAME_FILE` reads a mounted secret instead of `NAME`.

`make up` writes `.data/settings.env`; its lines count as environment where the real environment says nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parent.parent
ENV_FILE = Path(os.environ.get("TIDEGAUGE_ENV_FILE", ROOT / ".data" / "settings.env"))


def read_env_file(path: Path) -> dict[str, str]:
    """`NAME=value` lines; blank lines and lines that begin with `#` are skipped. A missing file is empty."""
    if not path.is_file():
        return {}
    lines = (line.strip() for line in path.read_text().splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


_FROM_FILE = read_env_file(ENV_FILE)


def text(name: str, default: str | None = None) -> str:
    """The value of `name`. Raises ImproperlyConfigured if it is missing and has no default."""
    if file := os.environ.get(f"{name}_FILE"):
        try:
            return Path(file).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE points at {file}, which cannot be read: {error}") from error
    value = os.environ.get(name, _FROM_FILE.get(name, default))
    if value is None:
        raise ImproperlyConfigured(
            f"{name} is not set. `make up` sets everything for one machine; elsewhere set it in the environment "
            f"(see docker-compose.yml for the full list)."
        )
    return value


def number(name: str, default: int) -> int:
    raw = text(name, str(default))
    try:
        return int(raw)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {raw!r}") from error


def switch(name: str, default: bool) -> bool:
    raw = text(name, str(default)).lower()
    if raw not in {"true", "false", "1", "0"}:
        raise ImproperlyConfigured(f"{name} must be true or false, not {raw!r}")
    return raw in {"true", "1"}


def words(name: str, default: str = "") -> list[str]:
    """A list separated by commas."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]
