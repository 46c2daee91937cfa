"""The one family of errors of this package. Each message is for the person who brought the file or wrote the grader."""

from __future__ import annotations

from django.utils.translation import gettext


class EvalError(ValueError):
    """Something in an eval cannot be used; the message says what and what to do."""


class GraderError(EvalError):
    """A grader's description makes no sense."""


class FileError(EvalError):
    """A file cannot be read as what it should be. `line` is 1-based where it is known."""

    def __init__(self, text: str, line: int | None = None) -> None:
        super().__init__(gettext("line {line}: {text}").format(line=line, text=text) if line is not None else text)
        self.line = line
