"""The verification itself: it must be able to fail, and must say when it proves nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from kernels import verify as verification
from kernels.report import Report


def test_the_kernels_pass_and_stock_torch_does_not() -> None:
    report = verification.verify(["fp32"], torch.device("cpu"), quick=True)

    assert report.state == "verified", report.as_table()
    facts = report.as_dict()
    assert facts["differing_bits"] == 0
    assert facts["rows"] > 2000
    assert facts["control_differing_rows"] > 0


def test_a_kernel_that_looks_at_its_batch_is_caught(monkeypatch) -> None:
    """The public failure of a norm whose block size switched at a number of rows."""

    def switching(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        wide = x.double() if len(x) > 16 else x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)).to(x.dtype) * weight

    monkeypatch.setattr(verification, "rms_norm", switching)

    report = verification.verify(["fp32"], torch.device("cpu"), quick=True)

    assert report.state == "failed"
    assert report.exit_status == 1
    assert {check.subject for check in report.claims if check.differing_rows} == {"rms_norm 576"}


def test_without_a_control_that_differs_a_pass_proves_nothing() -> None:
    report = Report("a test", "cpu")
    claim, control = report.check("x", "claim", "fp32"), report.check("x", "control", "fp32", control=True)
    claim.compare(torch.ones(3, 2), torch.ones(3, 2))
    control.compare(torch.ones(3, 2), torch.ones(3, 2))
    assert report.state == "inconclusive"
    assert report.exit_status == 2
    assert "Proves nothing" in report.verdict()

    control.compare(torch.ones(3, 2), torch.zeros(3, 2))
    assert report.state == "verified"


def test_every_dtype_needs_a_control_of_its_own() -> None:
    report = Report("a test", "cpu")
    for dtype in ("fp32", "bf16"):
        report.check("x", "claim", dtype).compare(torch.ones(1, 2), torch.ones(1, 2))
    report.check("x", "control", "fp32", control=True).compare(torch.ones(1, 2), torch.zeros(1, 2))

    assert report.state == "inconclusive"


def test_bits_are_counted_and_signed_zeros_differ() -> None:
    report = Report("a test", "cpu")
    check = report.check("x", "claim", "fp32")

    check.compare(torch.tensor([[0.0, 1.0], [2.0, 3.0]]), torch.tensor([[-0.0, 1.0], [2.0, 3.0]]))

    assert (check.rows, check.differing_rows, check.differing_bits) == (2, 1, 1)


def test_comparing_unlike_tensors_is_an_error_and_not_a_pass() -> None:
    check = Report("a test", "cpu").check("x", "claim", "fp32")

    with pytest.raises(ValueError, match="Cannot compare"):
        check.compare(torch.ones(1, 2), torch.ones(2, 2))


def test_the_command_prints_one_json_document_and_exits_by_its_verdict() -> None:
    command = [sys.executable, "-m", "kernels.verify", "--quick", "--json", "--dtype", "fp32"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["state"] == "verified"
    assert {"subject", "claim", "dtype", "rows", "differing_rows", "differing_bits"} <= set(report["checks"][0])
