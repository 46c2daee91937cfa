"""How long a server asks us to wait, in every form that has been seen. Nothing here raises.

Forms: seconds (`7`, `12.967`), Go durations (`2ms`, `1m13.588s`, `6m0s`, `1h30m`), RFC 3339 times, Unix times
in seconds or milliseconds, HTTP dates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT_S = 3600.0
"""A longer wait is cut to this: the next scheduled run will ask again anyway."""

_DURATION = re.compile(r"(?:\d{1,12}(?:\.\d{0,12})?(?:ms|us|µs|ns|s|m|h|d)){1,8}")
_PART = re.compile(r"(\d{1,12}(?:\.\d{0,12})?)(ms|us|µs|ns|s|m|h|d)")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{0,12})?")
_UNIT_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_EPOCH_S, _EPOCH_MS = 1e9, 1e12


def parse_wait(value: str, now: datetime) -> float | None:
    """Seconds from `now`, between 0 and `LONGEST_WAIT_S`; None when `value` says nothing understandable."""
    text = value.strip()[:100]
    if _NUMBER.fullmatch(text):
        number = float(text)
        if number >= _EPOCH_MS:
            return _clamp(number / 1000 - now.timestamp())
        return _clamp(number - now.timestamp() if number >= _EPOCH_S else number)
    lowered = text.lower().replace(" ", "")
    if _DURATION.fullmatch(lowered):
        return _clamp(sum(float(amount) * _UNIT_S[unit] for amount, unit in _PART.findall(lowered)))
    moment = _moment(text)
    return None if moment is None else _clamp((moment - now).total_seconds())


def wait_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """The wait that the response headers of a refused request ask for; None when they ask for none.

    Names in lower case. `retry-after` outranks the reset of a spent allowance.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return _clamp(float(milliseconds) / 1000)
    asked = parse_wait(headers.get("retry-after", ""), now)
    if asked is not None:
        return asked
    resets = [
        wait
        for name, value in headers.items()
        if name.startswith("x-ratelimit-reset")
        and headers.get(name.replace("-reset", "-remaining"), "0").strip() in ("0", "0.0")
        and (wait := parse_wait(value, now)) is not None
    ]
    return max(resets, default=None)


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _clamp(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_WAIT_S) if math.isfinite(seconds) else LONGEST_WAIT_S
