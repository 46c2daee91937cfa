"""The CUDA kernels, through Triton's interpreter, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_the_cuda_kernels_have_the_right_structure() -> None:
    """Triton decides at its import whether it interprets, and by now something here may have imported it."""
    structure = Path(__file__).parent / "triton" / "structure.py"
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(structure),
        "-q",
        "--noconftest",
        "-p",
        "no:django",
        "-o",
        "addopts=",
    ]
    environment = os.environ | {"TRITON_INTERPRET": "1"}

    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "10 passed" in done.stdout
