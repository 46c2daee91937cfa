"""Making two texts comparable: white space, case, punctuation, one field of a JSON answer."""

from __future__ import annotations

import json
import re
from typing import Any

from django.utils.translation import gettext_noop

from drift.said import said

_FENCE = re.compile(r"^\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_PUNCTUATION = re.compile(r"[^\w\s]")


def comparable(text: str, ignore_case: bool, ignore_punctuation: bool) -> str:
    """White space at the ends removed and within squeezed; the rest as asked."""
    squeezed = " ".join(text.split())
    if ignore_punctuation:
        squeezed = " ".join(_PUNCTUATION.sub(" ", squeezed).split())
    return squeezed.casefold() if ignore_case else squeezed


def without_fence(text: str) -> str:
    """The inside of an answer that is one fenced code block."""
    match = _FENCE.match(text)
    return match[1] if match else text


def parsed_json(text: str) -> tuple[Any, str]:
    """The JSON value that the answer is (a code fence around it is allowed), and '' or why it is none."""
    try:
        return json.loads(without_fence(text)), ""
    except (ValueError, RecursionError) as error:
        return None, said(gettext_noop("not JSON: {error}"), error=str(error)[:120])


def field_of(text: str, field: str) -> tuple[str, str]:
    """One top-level field of a JSON answer as text, and '' or why there is none."""
    value, problem = parsed_json(text)
    if problem:
        return "", problem
    if not isinstance(value, dict) or field not in value:
        return "", said(gettext_noop("the answer has no field '{field}'"), field=field)
    found = value[field]
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False), ""
