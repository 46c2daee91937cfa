"""Your own server judges the answer: we post it as JSON and read a score. No code of yours runs here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from drift.addresses import AddressError, read_base_url
from drift.evals.case import Case
from drift.evals.errors import GraderError
from drift.evals.graders.grade import Grade


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
        said = {
            "case": case.key,
            "question": case.question,
            "targets": list(case.targets),
            "answer": answer,
            "metadata": dict(case.metadata),
        }
        return json.dumps(said).encode()

    def read(self, status: int | None, body: bytes) -> Grade:
        """The grade in a response; unscored unless it is a success with a score in [0, 1]."""
        if status is None or not 200 <= status < 300:
            return Grade(None, "", f"the webhook answered with status {status}")
        try:
            said = json.loads(body)
        except (ValueError, RecursionError):
            return Grade(None, "", "the webhook's answer is not JSON")
        if not isinstance(said, dict):
            return Grade(None, "", "the webhook's answer is not an object")
        why = str(said.get("why", ""))[:2000]
        if isinstance(said.get("passed"), bool):
            return Grade(float(said["passed"]), "", why)
        score = said.get("score")
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            return Grade(None, "", "the webhook's answer has no score between 0 and 1")
        return Grade(float(score), f"{score:g}", why)
