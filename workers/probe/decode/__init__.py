"""Reads an `Exchange` into a `Decoded`: bytes in, one answer out.

`decode` is a pure function that never raises and costs time linear in the body. Raise `VERSION` whenever the
same bytes would be read differently, so that stored answers can be read again and told apart.
"""

from __future__ import annotations

from drift.answers import Decoded, Exchange, Outcome
from workers.probe.decode.answer import read_answer

VERSION = 1

__all__ = ["VERSION", "decode"]


def decode(exchange: Exchange) -> Decoded:
    """The answer in `exchange`, as read by decoder `VERSION`."""
    try:
        return read_answer(exchange, VERSION)
    except Exception as error:
        # The last line of defence: a body that the reader does not survive costs this sample, not its
        # neighbours.
        return Decoded(
            version=VERSION,
            outcome=Outcome.UNREADABLE,
            error_code="decoder",
            error_message=f"The decoder failed on this answer: {type(error).__name__}.",
        )
