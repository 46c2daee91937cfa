"""Takes values out of foreign JSON without trusting their types."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

LARGEST_COUNT = 2**31 - 1
LARGEST_TIME = 2**53


def as_object(value: Any) -> Mapping[str, Any]:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def as_count(value: Any) -> int | None:
    """A token count: a whole number from 0 to 2^31 - 1, however it is written; else None."""
    number = _whole(value)
    return number if number is not None and 0 <= number <= LARGEST_COUNT else None


def as_time(value: Any) -> int | None:
    """Unix seconds as a whole number; else None."""
    number = _whole(value)
    return number if number is not None and 0 <= number <= LARGEST_TIME else None


def as_seed(value: Any) -> int | None:
    number = _whole(value)
    return number if number is not None and abs(number) < 2**63 else None


def as_money(value: Any) -> Decimal | None:
    """A cost as a finite decimal number; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value)[:40])
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and abs(amount) < 1_000_000 else None


def as_fraction(value: Any) -> float | None:
    """A finite float; None for anything else, NaN and infinities included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def first_text(*values: Any) -> str:
    """The first non-empty string among `values`."""
    for value in values:
        if isinstance(value, str) and value:
            return value
    return ""


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value)
    return None
