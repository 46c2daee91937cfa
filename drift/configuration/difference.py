"""What would change. Pure: two documents, and whether each secret differs from the stored one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from drift.configuration.document import Document, MonitorSaid, Said

SECRET_FIELDS = frozenset({"api_key", "address", "signing_secret"})
PARTS = ("suites", "endpoints", "monitors", "channels")  # the order in which they can be made
KINDS = {"suites": "suite", "endpoints": "endpoint", "monitors": "monitor", "channels": "channel"}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to make or change. `fields`: {name: (before, after)} as they are shown, without secrets."""

    action: str  # create | change
    kind: str
    name: str
    said: Said
    fields: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        mark = "+" if self.action == "create" else "~"
        head = f"{mark} {self.kind} {self.name}"
        if self.action == "create":
            return [head]
        return [head, *(f"    {name}: {before!r} -> {after!r}" for name, (before, after) in self.fields.items())]


SecretDiffers = Callable[[str, str, str, str], bool]
"""(kind, name, field, reference) -> whether it leads to another text than the stored one."""


def difference(now: Document, wanted: Document, secret_differs: SecretDiffers) -> list[Change]:
    """Changes in an order in which they can be carried out; empty when everything is so already."""
    changes: list[Change] = []
    for part in PARTS:
        known = {one.name: one for one in getattr(now, part)}
        for said in getattr(wanted, part):
            change = _change(KINDS[part], known.get(said.name), said, secret_differs)
            if change is None and isinstance(said, MonitorSaid):
                change = _moved_on(said, changes)
            if change is not None:
                changes.append(change)
    if wanted.rules is not None:
        change = _change("rules", now.rules, wanted.rules, secret_differs)
        if change is not None:
            changes.append(change)
    return changes


def _change(kind: str, before: Said | None, said: Any, secret_differs: SecretDiffers) -> Change | None:
    if before is None:
        return Change("create", kind, said.name, said)
    fields: dict[str, tuple[Any, Any]] = {}
    for name in type(said).model_fields:
        old, new = getattr(before, name), getattr(said, name)
        if name in SECRET_FIELDS:
            if _secret_moved(kind, said.name, name, old, new, secret_differs):
                fields[name] = ("(hidden)" if old else None, "(hidden)" if new else None)
        elif old != new:
            fields[name] = (_shown(old), _shown(new))
    return Change("change", kind, said.name, said, fields) if fields else None


def _moved_on(said: MonitorSaid, before: Sequence[Change]) -> Change | None:
    """A monitor of a suite whose canaries change goes on with the suite's next version."""
    for change in before:
        if change.kind == "suite" and change.name == said.suite and "canaries" in change.fields:
            return Change("change", "monitor", said.name, said, {"suite": ("this version", "the next")})
    return None


def _secret_moved(kind: str, name: str, field: str, old: Any, new: Any, secret_differs: SecretDiffers) -> bool:
    """A secret that the file does not mention stays; one that it mentions is compared with the stored one."""
    return new is not None and secret_differs(kind, name, field, new)


def _shown(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list):
        return [one.name if isinstance(one, Said) else one for one in value]  # type: ignore[attr-defined]
    return value
