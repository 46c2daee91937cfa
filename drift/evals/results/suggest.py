"""Which grader fits answers that came without scores: a suggestion that is shown, and that a person may change."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

MOST = 0.8
_LETTER = re.compile(r"^\W*[A-Za-z]\W*$|^\W*(yes|no|true|false)\W*$", re.IGNORECASE)
_NUMBER = re.compile(r"^\s*[-+]?[\d.,]+\s*$")


def grader_for(answers: Sequence[str], targets: Sequence[str]) -> dict[str, Any]:
    """From some answers and their targets: a choice, a number or a text, whole or in a field of a JSON answer."""
    field = shared_field(answers)
    options: dict[str, Any] = {"json_field": field} if field else {}
    if _share(targets, _LETTER) >= MOST:
        return {"kind": "choice", **options}
    if _share(targets, _NUMBER) >= MOST and not field:
        return {"kind": "number"}
    return {"kind": "exact", "ignore_case": True, **options}


def shared_field(answers: Sequence[str]) -> str:
    """The one field that nearly all answers, being JSON objects, have; '' where there is none."""
    counts: Counter[str] = Counter()
    for answer in answers:
        try:
            value = json.loads(answer)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Mapping) and len(value) == 1:
            counts.update(map(str, value))
    field, count = counts.most_common(1)[0] if counts else ("", 0)
    return field if answers and count / len(answers) >= MOST else ""


def _share(texts: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(bool(pattern.match(text)) for text in texts) / len(texts) if texts else 0.0
