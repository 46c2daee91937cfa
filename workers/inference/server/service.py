"""What the endpoints share: the model, the engine, and what is known about both."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from workers.inference.engine.loop import EngineLoop
from workers.inference.fingerprint import dtype_name
from workers.inference.model import Model


@dataclass(slots=True)
class Service:
    """One served model. ``verification`` is the start-up self-test's report."""

    model: Model
    loop: EngineLoop
    verification: dict[str, Any]
    started: float = field(default_factory=time.time)
    statuses: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def mode(self) -> str:
        return self.model.decoder.ops.mode

    @property
    def context(self) -> int:
        return self.loop.engine.context

    def health(self) -> dict[str, Any]:
        """The state of the worker, for people and probes."""
        return {
            "status": "ok",
            "model": self.model.name,
            "mode": self.mode,
            "dtype": dtype_name(self.model.decoder.dtype),
            "device": str(self.model.decoder.device),
            "threads": self.model.threads,
            "fingerprint": self.model.fingerprint,
            "context": self.context,
            "max_batch": self.loop.engine.scheduler.max_batch,
            "running": self.loop.running,
            "waiting": self.loop.waiting,
            "uptime_s": round(time.time() - self.started, 1),
            "verification": self.verification,
        }
