"""Why a message could not be sent."""

from __future__ import annotations


class TransportError(Exception):
    """What happened, to which place, for people. `permanent`: trying again would not help; the channel is at fault."""

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.said = message
        self.permanent = permanent
