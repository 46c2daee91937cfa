"""Regular expressions that people wrote, matched within a time limit: a pattern that explodes costs one grade."""

from __future__ import annotations

from functools import lru_cache

import regex
from django.utils.translation import gettext

from drift.evals.errors import GraderError

LIMIT_S = 0.5
LONGEST_PATTERN = 2_000


class TooSlowError(Exception):
    """The pattern needed longer than `LIMIT_S` on this answer."""


@lru_cache(maxsize=256)
def compiled(pattern: str, ignore_case: bool = False) -> regex.Pattern[str]:
    """Raises GraderError on a pattern that cannot be read."""
    if len(pattern) > LONGEST_PATTERN:
        raise GraderError(
            gettext("the pattern is longer than {longest_pattern} characters").format(
                longest_pattern=f"{LONGEST_PATTERN:,}"
            )
        )
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        raise GraderError(
            gettext("'{pattern}' is not a regular expression: {error}").format(pattern=pattern[:80], error=error)
        ) from error


def search(pattern: str, text: str, ignore_case: bool = False) -> regex.Match[str] | None:
    """The first match. Raises TooSlowError."""
    try:
        return compiled(pattern, ignore_case).search(text, timeout=LIMIT_S)
    except TimeoutError as error:
        raise TooSlowError(
            gettext("the pattern '{pattern}' took longer than {limit_s} s on this answer").format(
                pattern=pattern[:60], limit_s=LIMIT_S
            )
        ) from error
