"""What was measured, against what was promised."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from tests.bench.inference.systems import Timing

SYSTEMS = ("fast", "invariant", "transformers_static", "transformers_per_request", "llama_cpp")


@dataclass(frozen=True, slots=True)
class Entry:
    """One system at one batch size. Tokens per processor second is what ratios use: the machine may be shared."""

    dtype: str
    system: str
    batch: int
    requests: int
    tokens: int
    tokens_per_s: float
    tokens_per_cpu_s: float


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Answers of a batch size that differ from the same system's answers alone."""

    dtype: str
    system: str
    batch: int
    requests: int
    differing: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A number to reach, what was measured, and whether it was reached."""

    dtype: str
    name: str
    wanted: str
    measured: float
    reached: bool


@dataclass(slots=True)
class Ledger:
    """Everything of one run."""

    model: str
    threads: int
    new_tokens: int
    entries: list[Entry] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def add(self, dtype: str, system: str, batch: int, requests: int, timing: Timing) -> None:
        wall, cpu = round(timing.tokens_per_s, 2), round(timing.tokens_per_cpu_s, 2)
        self.entries.append(Entry(dtype, system, batch, requests, timing.tokens, wall, cpu))

    def rate(self, dtype: str, system: str, batch: int) -> float | None:
        """Tokens per processor second; None where it was not measured."""
        found = [e for e in self.entries if (e.dtype, e.system, e.batch) == (dtype, system, batch)]
        return found[0].tokens_per_cpu_s if found else None

    def ratio(self, dtype: str, batch: int, system: str = "invariant", to: str = "fast") -> float | None:
        above, below = self.rate(dtype, system, batch), self.rate(dtype, to, batch)
        return None if above is None or below is None else above / below

    def batches(self, dtype: str) -> list[int]:
        return sorted({entry.batch for entry in self.entries if entry.dtype == dtype})

    @property
    def dtypes(self) -> list[str]:
        return list(dict.fromkeys(entry.dtype for entry in self.entries))

    def mark(
        self, dtype: str, name: str, measured: float | None, *, least: float | None = None, most: float = 0
    ) -> None:
        """Note a mark; nothing is noted for what was not measured."""
        if measured is None:
            return
        reached = measured >= least if least is not None else measured <= most
        wanted = f">= {least:g}" if least is not None else f"<= {most:g}"
        self.marks.append(Mark(dtype, name, wanted, round(measured, 3), reached))

    def as_dict(self) -> dict[str, Any]:
        return {
            "benchmark": "worker",
            "model": self.model,
            "machine": machine(),
            "threads": self.threads,
            "new_tokens": self.new_tokens,
            "torch": torch.__version__,
            "entries": [asdict(entry) for entry in self.entries],
            "ratios": [
                {"dtype": dtype, "batch": batch, "invariant_over_fast": round(ratio, 3)}
                for dtype in self.dtypes
                for batch in self.batches(dtype)
                if (ratio := self.ratio(dtype, batch)) is not None
            ],
            "disagreements": [asdict(found) for found in self.disagreements],
            "marks": [asdict(mark) for mark in self.marks],
        }


def machine() -> dict[str, Any]:
    """The machine in general terms."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "load": round(os.getloadavg()[0], 1),
    }
