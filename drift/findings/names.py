"""What an endpoint calls itself, as one value that can be compared, counted and stored."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from django.utils.translation import gettext

from drift.answers import FingerprintState
from drift.findings.kinds import Kind


class Name(NamedTuple):
    """Region is left out: it changes with the route a request took, not with what answered."""

    model_echo: str | None
    fingerprint_state: str
    fingerprint: str
    upstream: str

    def key(self) -> str:
        """The name as text, for counting and for JSON; `read` gives it back."""
        return json.dumps(self, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def read(cls, key: str) -> Name:
        return cls(*json.loads(key))

    @property
    def label(self) -> str:
        """The short form shown to people."""
        if self.fingerprint_state == FingerprintState.VALUE:
            return self.fingerprint
        return {"absent": gettext("none given"), "null": "null", "empty": gettext("empty")}[self.fingerprint_state]

    @property
    def says_nothing(self) -> bool:
        return self.fingerprint_state != FingerprintState.VALUE and not self.upstream


def kind_of_change(before: Iterable[str], after: Iterable[str]) -> Kind:
    """What the names `after` have that none `before` had, the gravest part first.

    model echo -> another model; upstream -> another route; fingerprint given or withheld -> the server's manners;
    otherwise a new fingerprint. Echoes are compared with earlier echoes, never with what was asked for.
    """
    old, new = [Name.read(key) for key in before], [Name.read(key) for key in after]
    if not {name.model_echo for name in new} <= {name.model_echo for name in old}:
        return Kind.MODEL_ECHO
    if not {name.upstream for name in new} <= {name.upstream for name in old}:
        return Kind.ROUTING
    states = {name.fingerprint_state for name in old}
    if not any(name.fingerprint_state in states for name in new):
        return Kind.FINGERPRINT_KEY
    return Kind.NEW_IDENTITY
