"""From YAML to a document. Every mistake is told at once, with its place."""

from __future__ import annotations

from typing import Any

import yaml
from pydantic import ValidationError

from drift.configuration.document import Document

LARGEST = 4 * 1024 * 1024
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ConfigurationError(ValueError):
    """The file cannot be used. `mistakes`: one line each, with its place."""

    def __init__(self, mistakes: list[str]) -> None:
        self.mistakes = mistakes
        super().__init__("\n".join(mistakes))


def read(text: str) -> Document:
    """Raises ConfigurationError."""
    if len(text) > LARGEST:
        raise ConfigurationError([f"the file is larger than {LARGEST // 1024 // 1024} MiB"])
    try:
        for event in yaml.parse(text, Loader=Loader):
            if isinstance(event, yaml.AliasEvent):  # a few of them can unfold into gigabytes
                line = event.start_mark.line + 1 if event.start_mark else "?"
                raise ConfigurationError([f"line {line}: anchors and aliases are not used here"])
        value = yaml.load(text, Loader=Loader)  # noqa: S506  a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark else ""
        raise ConfigurationError([f"{place}{getattr(error, 'problem', None) or 'not YAML'}"]) from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError([f"not YAML that can be read: {error}"]) from error
    if not isinstance(value, dict):
        raise ConfigurationError(["the file must hold a mapping with endpoints, suites, monitors, channels, rules"])
    return from_value(value)


def from_value(value: dict[str, Any]) -> Document:
    """The same from a value already read. Raises ConfigurationError."""
    try:
        return Document.model_validate(value)
    except ValidationError as error:
        raise ConfigurationError([_line(one, value) for one in error.errors(include_url=False)]) from error


def _line(error: Any, value: Any) -> str:
    place = ""
    for part in error["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            value = None
        if isinstance(part, int) and isinstance(value, dict) and value.get("name"):
            place += f" ({value['name']})"
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
