"""Kinds of value that requests carry, with bounds that the database can hold."""

from __future__ import annotations

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


def _written(value: Any) -> Any:
    if not isinstance(value, str | datetime):
        raise ValueError("a time is written as text, in ISO 8601")
    return value


Moment = Annotated[datetime, BeforeValidator(_written)]
STORABLE = r"^[^\x00]*$"

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
