"""Reads one large file of recorded answers."""

from __future__ import annotations

from django.utils import timezone

from drift.checkup import answer_files


def perform(pk: int) -> None:
    """Takes it up if it is due. What breaks here puts it back, and goes on to the log."""
    claimed = answer_files.claim(pk, timezone.now())
    if claimed is None:
        return
    row, token = claimed
    try:
        answer_files.make(row, token, timezone.now())
    except Exception as error:
        answer_files.put_back(row, token, timezone.now(), f"{type(error).__name__}: {error}")
        raise
