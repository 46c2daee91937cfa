"""What can be wrong with a wish for a check-up."""

from __future__ import annotations

from drift.entered import EntryError


class CheckupError(EntryError):
    """The check-up cannot be made; the message says why and what to do."""
