"""Running Triton without a GPU, for tests of structure."""

from __future__ import annotations

import os


def interpreting() -> bool:
    """Whether kernels run in Triton's interpreter. It has no bf16 arithmetic, so products are then taken in float32."""
    return os.environ.get("TRITON_INTERPRET") == "1"
