"""What can go wrong in the worker."""

from __future__ import annotations


class WorkerError(Exception):
    """Root of the family."""


class UnsupportedModelError(WorkerError):
    """The model file asks for something this worker does not compute."""


class VerificationError(WorkerError):
    """The kernels did not give the same bits in every batch on this machine."""


class QueueFullError(WorkerError):
    """More requests wait than the worker is allowed to hold."""

    def __init__(self, waiting: int, retry_after_s: int) -> None:
        super().__init__(f"{waiting} requests are already waiting; try again in {retry_after_s} s.")
        self.retry_after_s = retry_after_s


class InvalidRequestError(WorkerError):
    """A request that cannot be served as asked. ``parameter`` is the field to change."""

    def __init__(self, message: str, parameter: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.code = code
        self.status = status
