"""One answer that production had, as it tells of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Observation:
    """`endpoint`: its public id or name; '' when only `model` and `host` say which.

    None is 'not told', which says nothing: clients drop what they do not know. Hashes are the sender's own, of any
    kind; they are compared with each other only.
    """

    at: datetime
    endpoint: str = ""
    model: str = ""  # as asked for
    host: str = ""
    model_echo: str | None = None
    fingerprint: str | None = None
    prompt_hash: str = ""
    output_hash: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Rejected:
    """An observation that could not be counted, by its place in the batch."""

    index: int
    reason: str
