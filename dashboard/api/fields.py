"""Kinds of value that requests carry, with bounds that the database can hold."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import BeforeValidator, Field, model_validator


class Asked(Schema):
    """A request's body: a JSON object. A list whose fields all have defaults would pass for an empty one."""

    @model_validator(mode="before")
    @classmethod
    def _is_an_object(cls, value: Any) -> Any:
        if not isinstance(getattr(value, "_obj", value), dict | Schema):
            raise ValueError("the body must be a JSON object")
        return value


NUMBER = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?", re.IGNORECASE)  # pydantic would take it for seconds since 1970


def _written(value: Any) -> Any:
    text = isinstance(value, str) and NUMBER.fullmatch(value.strip()) is None
    if not text and not isinstance(value, datetime):
        raise ValueError("a time is written in ISO 8601, such as 2026-11-29T14:05:00Z")
    return value


Moment = Annotated[datetime, BeforeValidator(_written)]
STORABLE = r"^[^\x00]*$"

Clock = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", examples=["22:00"])]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00]*[^\x00\s][^\x00]*$")]
ShortText = Annotated[str, Field(max_length=200, pattern=STORABLE)]
Reason = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^\x00]*[^\x00\s][^\x00]*$")]
Secret = Annotated[str, Field(max_length=4000, pattern=STORABLE, json_schema_extra={"writeOnly": True})]
Tag = Annotated[str, Field(min_length=1, max_length=40, pattern=STORABLE)]


class FileOut(Schema):
    """A report as a file to keep or send."""

    name: str
    media_type: str
    text: str
