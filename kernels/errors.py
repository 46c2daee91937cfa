"""What can go wrong inside the kernels."""

from __future__ import annotations


class KernelError(Exception):
    """Root of the family."""


class UnsupportedShapeError(KernelError):
    """A tensor's width or layout cannot be computed in a batch-independent order."""


class UnsupportedDeviceError(KernelError):
    """No batch-invariant implementation exists for the tensor's device."""
