"""What we do not run, whoever asks: code in a file of cases, and references to other files."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext

_SCHEMES = re.compile(r"^\s*(not-)?(javascript|python|ruby|file|package|exec|fn)\s*(:|\b$)", re.IGNORECASE)
_FILE = re.compile(r"^\s*(file|python|javascript|package|exec)\s*:", re.IGNORECASE)


def refused_type(kind: str) -> str | None:
    """Why an assertion of this type is refused; None if it is no code."""
    match = _SCHEMES.match(kind)
    return _reason(match[2]) if match else None


def refused_value(value: Any) -> str | None:
    """Why this value, or something inside it, is refused; None if it is plain data."""
    if isinstance(value, str):
        match = _FILE.match(value)
        return _reason(match[1]) if match else None
    if isinstance(value, dict):
        return next((why for inner in value.values() if (why := refused_value(inner))), None)
    if isinstance(value, list):
        return next((why for inner in value if (why := refused_value(inner))), None)
    return None


def _reason(scheme: str) -> str:
    word = scheme.lower()
    if word == "file":
        return gettext("file:// is refused: other files are not read; put the content here")
    return gettext("{word}: is refused: no uploaded code is run here; use a webhook grader for your own code").format(
        word=word
    )
