"""Frozen dataclasses as plain JSON values and back, by their type hints."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Dataclasses as objects, tuples as lists, times in ISO 8601, enums by value."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return value.isoformat() if isinstance(value, datetime) else value


def from_plain(kind: type[T], value: Any) -> T:
    """The inverse of `to_plain` for the types named in the hints of `kind`. Fields that are absent keep defaults."""
    made: T = _made(kind, value)
    return made


def _made(kind: Any, value: Any) -> Any:
    if value is None or kind is Any:
        return value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _made(next(one for one in get_args(kind) if one is not types.NoneType), value)
    if origin is tuple:
        inner = get_args(kind)
        if len(inner) == 2 and inner[1] is ...:
            return tuple(_made(inner[0], item) for item in value)
        return tuple(_made(one, item) for one, item in zip(inner, value, strict=True))
    if origin is not None:
        return value
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: _made(hints[name], value[name]) for name in hints if name in value})
    if kind is datetime:
        return datetime.fromisoformat(value)
    return kind(value) if isinstance(kind, type) and issubclass(kind, Enum) else value


@cache
def _hints(kind: type) -> dict[str, Any]:
    known = {field.name for field in fields(kind)}
    return {name: hint for name, hint in get_type_hints(kind).items() if name in known}
