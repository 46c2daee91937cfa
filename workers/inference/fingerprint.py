"""A name for the numerics: it changes exactly when the bits of an answer may."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path

import torch

import kernels
from kernels.prepack import backend, has_matrix_tiles
from workers.inference import models, operators

_DTYPE_NAMES = {torch.bfloat16: "bf16", torch.float32: "fp32"}


def dtype_name(dtype: torch.dtype) -> str:
    """``bf16`` or ``fp32``."""
    return _DTYPE_NAMES[dtype]


def fingerprint(
    weights: Mapping[str, torch.Tensor], *, dtype: torch.dtype, mode: str, threads: int, device: torch.device
) -> str:
    """``tg-<8 hex>-<dtype>-<inv|fast>``.

    Covers the weights, the source of kernels, operators and decoder, the torch build, the instruction set, the thread
    count and the device.
    """
    digest = hashlib.blake2b(digest_size=4)
    for name in sorted(weights):
        digest.update(name.encode())
        digest.update(weights[name].contiguous().view(torch.uint8).numpy().data)
    for package in (kernels, operators, models):
        for source in sorted(Path(package.__path__[0]).rglob("*.py")):
            digest.update(source.read_bytes())
    accelerator = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    facts = (
        torch.__version__,
        torch.backends.cpu.get_cpu_capability(),
        has_matrix_tiles(),
        backend(),
        threads,
        str(device),
        accelerator,
        dtype_name(dtype),
        mode,
    )
    digest.update(repr(facts).encode())
    return f"tg-{digest.hexdigest()}-{dtype_name(dtype)}-{'inv' if mode == 'invariant' else 'fast'}"
