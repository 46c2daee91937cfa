"""Pages of a list, each with the cursor of the next: stable while rows come and go."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from ninja import Query, Schema
from pydantic import Field

from drift.entered import EntryError

M = TypeVar("M", bound=Model)


class Paging(Schema):
    limit: int = Field(50, ge=1, le=200, description="Items on a page, at most")
    cursor: str = Field("", max_length=400, description="`next` of the page before; empty: the first page")


PagingQuery = Annotated[Paging, Query()]


def page(rows: QuerySet[M], order: Sequence[str], paging: Paging) -> dict[str, Any]:
    """`{"items": [...], "next": cursor or null}`. `order`: fields that together are unique, each with its `-`."""
    if paging.cursor:
        rows = rows.filter(_after(rows.model, order, paging.cursor))
    found = list(rows.order_by(*order)[: paging.limit + 1])
    items = found[: paging.limit]
    return {"items": items, "next": _cursor(items[-1], order) if len(found) > paging.limit else None}


def _cursor(row: Model, order: Sequence[str]) -> str:
    values = [getattr(row, name.lstrip("-")) for name in order]
    plain = [value.isoformat() if isinstance(value, datetime | date) else str(value) for value in values]
    return base64.urlsafe_b64encode(json.dumps(plain).encode()).decode().rstrip("=")


def _after(model: type[Model], order: Sequence[str], cursor: str) -> Q:
    """(a, b) after (x, y): a beyond x, or a = x and b beyond y."""
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        fields = [model._meta.get_field(name.lstrip("-")) for name in order]
        read = [field.to_python(value) for field, value in zip(fields, values, strict=True)]  # type: ignore[union-attr]
        if not all(isinstance(value, str) and "\x00" not in value for value in values):
            raise ValueError(cursor)
    except (ValueError, TypeError, ValidationError, RecursionError) as error:
        raise EntryError("The cursor is not one of ours: use `next` of the page before, unchanged.") from error
    beyond = Q()
    same = Q()
    for name, value in zip(order, read, strict=True):
        field = name.lstrip("-")
        beyond |= same & Q(**{f"{field}__{'lt' if name.startswith('-') else 'gt'}": value})
        same &= Q(**{field: value})
    return beyond
