"""What a worker checks before it serves."""

from __future__ import annotations

import logging
import time
from typing import Any

from kernels.report import Report
from workers.inference.checkpoints.checkpoint import Checkpoint
from workers.inference.errors import VerificationError
from workers.inference.fingerprint import dtype_name
from workers.inference.model import Model
from workers.inference.verify import verify_model

log = logging.getLogger(__name__)


def self_test(checkpoint: Checkpoint, model: Model, *, skip: bool = False) -> dict[str, Any]:
    """Run the quick verification on the model about to be served in ``invariant`` mode.

    Padding and fixed shapes are enough by every library's code that was read, and promised by none of them. So the
    promise is tested on this machine, with these weights, each time.

    Returns:
        The report, or a state that says why there is none.

    Raises:
        VerificationError: bits differ between batches; the mode must not be served.
    """
    if model.decoder.ops.mode != "invariant":
        return {"state": "not_applicable"}
    if skip:
        return {"state": "skipped"}
    clock = time.perf_counter()
    report = Report(model.name, str(model.decoder.device))
    verify_model(checkpoint, model.decoder, dtype_name(model.decoder.dtype), quick=True, report=report)
    report.seconds = time.perf_counter() - clock
    log.info(report.verdict())
    if report.state == "failed":
        raise VerificationError(
            f"{report.verdict()} The invariant mode is not served. For details run python -m workers.inference.verify."
        )
    return report.as_dict()
