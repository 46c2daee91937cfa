"""Secrets by reference: `${NAME}` from the environment or `file:PATH`. The file itself never holds one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

_NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,100})\}")
_MAIL = re.compile(r"[^\s@:/]+@[^\s@:/]+")


class Reference(str):
    """`${NAME}`, `file:PATH`, or an e-mail address, which is no secret. Any other text is refused."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls.read, core_schema.str_schema(max_length=4000))

    @classmethod
    def read(cls, text: str) -> Reference:
        text = text.strip()
        if _NAME.fullmatch(text) or (text.startswith("file:") and len(text) > 5) or _MAIL.fullmatch(text):
            return cls(text)
        raise ValueError("secrets do not belong in this file: write ${NAME} or file:PATH")

    @classmethod
    def named(cls, *words: str) -> Reference:
        """The reference under which an exported secret is expected."""
        return cls("${" + re.sub(r"[^A-Z0-9]+", "_", "_".join(words).upper()).strip("_")[:100] + "}")


class Secrets:
    """Where references lead. None for one that leads nowhere here: a stored secret is then kept."""

    def get(self, reference: str) -> str | None:
        raise NotImplementedError


class LocalSecrets(Secrets):
    """Environment and files of this machine: for its administrators."""

    def get(self, reference: str) -> str | None:
        if _MAIL.fullmatch(reference):
            return str(reference)
        if name := _NAME.fullmatch(reference):
            return os.environ.get(name[1])
        path = Path(reference.removeprefix("file:"))
        return path.read_text().strip() if path.is_file() else None


class GivenSecrets(Secrets):
    """Only what came with the request: a token's holder must not reach the server's own environment or files."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given

    def get(self, reference: str) -> str | None:
        if _MAIL.fullmatch(reference):
            return str(reference)
        name = _NAME.fullmatch(reference)
        return self.given.get(name[1]) if name else None
