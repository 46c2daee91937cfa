"""Your own server judges the answer: we post it as JSON and read a score. No code of yours runs here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext_noop

from drift.addresses import AddressError, read_base_url
from drift.evals.case import Case
from drift.evals.errors import GraderError
from drift.evals.graders.grade import Grade
from drift.said import said


@dataclass(frozen=True, slots=True)
class Webhook:
    """`url`: where to post `{case, question, targets, answer, metadata}`. It answers `{"score": 0..1, "why": "..."}`
    or `{"passed": true}`; anything else leaves the answer unscored.
    """

    version: ClassVar[int] = 1
    url: str = ""

    def __post_init__(self) -> None:
        try:
            read_base_url(self.url)
        except AddressError as error:
            raise GraderError(f"webhook: {error}") from error

    def body(self, answer: str, case: Case) -> bytes:
        given = {
            "case": case.key,
            "question": case.question,
            "targets": list(case.targets),
            "answer": answer,
            "metadata": dict(case.metadata),
        }
        return json.dumps(given).encode()

    def read(self, status: int | None, body: bytes) -> Grade:
        """The grade in a response; unscored unless it is a success with a score in [0, 1]."""
        if status is None or not 200 <= status < 300:
            return Grade(None, "", said(gettext_noop("the webhook answered with status {status}"), status=status))
        try:
            given = json.loads(body)
        except (ValueError, RecursionError):
            return Grade(None, "", said(gettext_noop("the webhook's answer is not JSON")))
        if not isinstance(given, dict):
            return Grade(None, "", said(gettext_noop("the webhook's answer is not an object")))
        why = str(given.get("why", ""))[:2000]
        if isinstance(given.get("passed"), bool):
            return Grade(float(given["passed"]), "", why)
        score = given.get("score")
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            return Grade(None, "", said(gettext_noop("the webhook's answer has no score between 0 and 1")))
        return Grade(float(score), f"{score:g}", why)
