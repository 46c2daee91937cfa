"""Log lines that can be followed: each with its request or run, as text or JSON, without secrets."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_request: ContextVar[str] = ContextVar("request", default="")
_run: ContextVar[str] = ContextVar("run", default="")

# Our tokens, bearer headers, common providers' keys, passwords inside addresses.
_SECRETS = re.compile(
    r"tg[rw]_[A-Za-z0-9_-]{8,}|(?i:bearer)\s+[A-Za-z0-9._~+/=-]{8,}|\b(?:sk|gsk|xai|pplx|key)-[A-Za-z0-9_-]{8,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)


def without_secrets(text: str) -> str:
    return _SECRETS.sub("[hidden]", text)


@contextmanager
def in_request(request_id: str) -> Iterator[None]:
    token = _request.set(request_id)
    try:
        yield
    finally:
        _request.reset(token)


@contextmanager
def in_run(run_id: int | str) -> Iterator[None]:
    token = _run.set(str(run_id))
    try:
        yield
    finally:
        _run.reset(token)


class Line(logging.Formatter):
    """`2026-11-29T12:00:00.000Z INFO name message request=... run=...`"""

    def format(self, record: logging.LogRecord) -> str:
        where = "".join(f" {name}={value}" for name, value in _context().items())
        text = f"{_time(record)} {record.levelname} {record.name} {record.getMessage()}{where}"
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        return without_secrets(text)


class JsonLine(logging.Formatter):
    """One JSON object a line, for log stores."""

    def format(self, record: logging.LogRecord) -> str:
        value = {
            "at": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
            **_context(),
        }
        if record.exc_info:
            value["exception"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(value, ensure_ascii=False)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _context() -> dict[str, str]:
    known = {"request": _request.get(), "run": _run.get()}
    return {name: value for name, value in known.items() if value}
