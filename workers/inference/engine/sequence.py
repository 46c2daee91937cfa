"""One request's tokens and everything known about them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from workers.inference.engine.sampling_params import SamplingParams
from workers.inference.text import TextStream

_numbers = itertools.count()


class Status(Enum):
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """Log-probability of a token at its position, and the best alternatives, best first, as (id, logprob)."""

    token_id: int
    logprob: float
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """What one step added to a sequence. ``finish_reason`` is None until the last."""

    token_id: int | None
    text: str
    logprob: TokenLogprob | None
    batch_size: int
    finish_reason: str | None


Listener = Callable[[Progress], None]


@dataclass(slots=True, eq=False)
class Sequence:
    """State of one answer in the making. The scheduler decides about it; it decides nothing itself.

    ``computed`` counts the leading tokens whose keys and values are in ``pages``.
    """

    prompt_ids: list[int]
    params: SamplingParams
    text: TextStream
    listener: Listener
    token_ids: list[int] = field(init=False)
    number: int = field(default_factory=lambda: next(_numbers))
    status: Status = Status.WAITING
    pages: list[int] = field(default_factory=list)
    page_hashes: list[bytes] = field(default_factory=list)
    computed: int = 0
    cached_tokens: int = 0
    batch_sizes: list[int] = field(default_factory=list)
    prompt_logprobs: dict[int, TokenLogprob] = field(default_factory=dict)
    finish_reason: str | None = None

    def __post_init__(self) -> None:
        self.token_ids = list(self.prompt_ids)

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def remaining(self) -> int:
        """Tokens still to be computed before the next one can be chosen: 1 while decoding."""
        return len(self.token_ids) - self.computed

    @property
    def generated(self) -> int:
        return len(self.token_ids) - len(self.prompt_ids)
