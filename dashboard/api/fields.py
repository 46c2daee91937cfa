"""Kinds of value that requests carry, with bounds that the database can hold."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

STORABLE = r"^[^\x00]*$"

Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00]*[^\x00\s][^\x00]*$")]
ShortText = Annotated[str, Field(max_length=200, pattern=STORABLE)]
Reason = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^\x00]*[^\x00\s][^\x00]*$")]
Secret = Annotated[str, Field(max_length=4000, pattern=STORABLE, json_schema_extra={"writeOnly": True})]
Tag = Annotated[str, Field(min_length=1, max_length=40, pattern=STORABLE)]
Count = Annotated[int, Field(ge=0, le=2_147_483_647)]
