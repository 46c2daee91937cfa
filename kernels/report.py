"""What a verification found, in one form for people and machines."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass, field
from typing import Any

import torch

_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(slots=True)
class Check:
    """Rows compared under one claim. A control is the same comparison on the fast path, where it ought to fail."""

    subject: str
    claim: str
    dtype: str
    control: bool = False
    rows: int = 0
    differing_rows: int = 0
    differing_bits: int = 0

    def compare(self, got: torch.Tensor, expected: torch.Tensor) -> None:
        """Count rows of [R, ...] whose bits differ. -0.0 and 0.0 differ; equal NaNs are equal."""
        if got.shape != expected.shape or got.dtype != expected.dtype:
            raise ValueError(f"Cannot compare {got.shape} {got.dtype} with {expected.shape} {expected.dtype}.")
        self.rows += len(got)
        if torch.equal(_bits(got), _bits(expected)):
            return
        flipped = _bits(got) ^ _bits(expected)
        wrong = (flipped != 0).flatten(1).any(1)
        self.differing_rows += int(wrong.sum())
        self.differing_bits += _ones(flipped[wrong])


@dataclass(slots=True)
class Report:
    """All checks of a verification."""

    subject: str
    device: str
    checks: list[Check] = field(default_factory=list)
    started: float = field(default_factory=time.time)
    seconds: float = 0.0

    def check(self, subject: str, claim: str, dtype: str, *, control: bool = False) -> Check:
        """Open a new check."""
        added = Check(subject, claim, dtype, control)
        self.checks.append(added)
        return added

    @property
    def claims(self) -> list[Check]:
        return [check for check in self.checks if not check.control]

    @property
    def controls(self) -> list[Check]:
        return [check for check in self.checks if check.control]

    @property
    def state(self) -> str:
        """``verified``, ``failed``, or ``inconclusive``: nothing differed, not even where it must."""
        if any(check.differing_rows for check in self.claims):
            return "failed"
        dtypes = {check.dtype for check in self.claims}
        exposed = {check.dtype for check in self.controls if check.differing_rows}
        return "verified" if dtypes and dtypes <= exposed else "inconclusive"

    @property
    def exit_status(self) -> int:
        """0 verified, 1 failed, 2 proves nothing."""
        return {"verified": 0, "failed": 1, "inconclusive": 2}[self.state]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON's types. Totals count the claims, not the controls."""
        return {
            "state": self.state,
            "subject": self.subject,
            "device": self.device,
            "rows": sum(check.rows for check in self.claims),
            "differing_rows": sum(check.differing_rows for check in self.claims),
            "differing_bits": sum(check.differing_bits for check in self.claims),
            "control_rows": sum(check.rows for check in self.controls),
            "control_differing_rows": sum(check.differing_rows for check in self.controls),
            "seconds": round(self.seconds, 2),
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started)),
            "checks": [dataclasses.asdict(check) for check in self.checks],
        }

    def as_table(self) -> str:
        """The report as text: one line per check, then the verdict."""
        rows = [("subject", "dtype", "claim", "rows", "rows that differ", "bits that differ")]
        for check in self.checks:
            claim = f"control: {check.claim}" if check.control else check.claim
            counts = (f"{check.rows:,}", f"{check.differing_rows:,}", f"{check.differing_bits:,}")
            rows.append((check.subject, check.dtype, claim, *counts))
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        lines = []
        for row in rows:
            texts = [text.ljust(width) for text, width in zip(row[:3], widths[:3], strict=True)]
            numbers = [text.rjust(width) for text, width in zip(row[3:], widths[3:], strict=True)]
            lines.append("  ".join(texts + numbers))
        lines.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([*lines, "", self.verdict()])

    def verdict(self) -> str:
        """One sentence."""
        facts = self.as_dict()
        counted = f"{facts['differing_bits']:,} differing bits in {facts['rows']:,} rows of {self.subject}"
        control = f"{facts['control_differing_rows']:,} of {facts['control_rows']:,} control rows differ"
        if self.state == "verified":
            return f"Verified: {counted}; {control}, as they must."
        if self.state == "failed":
            return f"FAILED: {counted} on {self.device}."
        return f"Proves nothing: {counted}, but {control}, so this check cannot tell the two paths apart here."


def _bits(values: torch.Tensor) -> torch.Tensor:
    return values.contiguous().view(_INTEGERS[values.element_size()])


def _ones(flipped: torch.Tensor) -> int:
    """Number of one bits."""
    as_bytes = flipped.contiguous().view(torch.uint8).cpu()
    table = torch.tensor([bin(value).count("1") for value in range(256)])
    return int(table[as_bytes.long()].sum())
