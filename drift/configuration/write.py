"""A document as YAML that a person would have written: short forms, nothing that is the default."""

from __future__ import annotations

from datetime import time
from decimal import Decimal
from enum import Enum
from typing import Any

import yaml

from drift.configuration.document import CanarySaid, Document, Said

HEAD = "# One team's set-up. Secrets are references: ${NAME} or file:PATH. What is left out stays as it is.\n"
ALWAYS = {"cadence_s", "repeats", "tidegauge", "max_tokens", "parameters"}


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def write(document: Document) -> str:
    text: str = yaml.dump(_said(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return HEAD + text


def _said(part: Said) -> dict[str, Any]:
    if isinstance(part, CanarySaid):
        return _canary(part)
    told = {}
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        if name in ALWAYS or (value not in (None, [], "") and value != field.default):
            told[name] = _plain(value)
    return told


def _canary(canary: CanarySaid) -> dict[str, Any]:
    first = canary.messages[0]
    if len(canary.messages) == 1 and set(first) == {"role", "content"} and first["role"] == "user":
        return {"name": canary.name, "prompt": first["content"], "max_tokens": canary.max_tokens}
    return {"name": canary.name, "messages": _plain(canary.messages), "max_tokens": canary.max_tokens}


def _plain(value: Any) -> Any:
    if isinstance(value, Said):
        return _said(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, time):
        return value.isoformat("minutes")
    return str(value) if isinstance(value, str) else value
