"""The whole model's verification, the self-test before serving, and the fingerprint."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest
import torch

from kernels.report import Report
from tests.workers.inference.tiny import make_decoder
from workers.inference import self_test as starting
from workers.inference.errors import VerificationError
from workers.inference.fingerprint import fingerprint
from workers.inference.model import Model
from workers.inference.operators.invariant import InvariantOperators
from workers.inference.verify import verify_model


def verified(checkpoint, decoder, *, quick: bool = True) -> Report:
    report = Report("tiny", "cpu")
    verify_model(checkpoint, decoder, "fp32", quick=quick, report=report)
    return report


def model_of(checkpoint, decoder) -> Model:
    return Model(checkpoint.name, decoder, None, None, "tg-0-fp32-inv", 1)  # type: ignore[arg-type]


def test_every_claim_of_the_full_verification_holds_on_a_small_model(tiny, tiny_decoder) -> None:
    report = verified(tiny, tiny_decoder, quick=False)

    assert report.state == "verified", report.as_table()
    claims = {check.claim for check in report.claims}
    for part in ("decode", "batch sizes", "row positions", "steps of 5", "neighbour", "warm prefix", "preempted"):
        assert any(part in claim for claim in claims), f"nothing checks {part}"
    assert all(check.rows for check in report.checks)


def test_the_same_checks_on_stock_operators_fail(tiny) -> None:
    """The negative control of the whole verification."""
    report = verified(tiny, make_decoder(tiny, "fast"))

    assert report.state == "failed"


class Leaky(InvariantOperators):
    """A norm that takes another path for many rows, as one public kernel did."""

    def rms_norm(self, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        if len(x) <= 16:
            return super().rms_norm(x, weight, eps)
        wide = x.double()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)).to(x.dtype) * weight


def test_a_worker_whose_kernels_leak_does_not_serve(tiny, monkeypatch) -> None:
    decoder = make_decoder(tiny)
    decoder.ops = Leaky()
    for layer in decoder.layers:
        layer.ops = decoder.ops

    with pytest.raises(VerificationError, match="invariant mode is not served"):
        starting.self_test(tiny, model_of(tiny, decoder))


def test_the_self_test_reports_what_it_compared(tiny, tiny_decoder) -> None:
    facts = starting.self_test(tiny, model_of(tiny, tiny_decoder))

    assert facts["state"] == "verified"
    assert facts["rows"] > 300
    assert facts["control_differing_rows"] > 0
    json.dumps(facts)


def test_fast_mode_claims_nothing(tiny) -> None:
    assert starting.self_test(tiny, model_of(tiny, make_decoder(tiny, "fast"))) == {"state": "not_applicable"}


def test_the_fingerprint_changes_exactly_with_what_may_change_bits(tiny) -> None:
    settings = {"dtype": torch.float32, "mode": "invariant", "threads": 1, "device": torch.device("cpu")}
    base = fingerprint(tiny.weights, **settings)
    changed_weights = {name: tensor.clone() for name, tensor in tiny.weights.items()}
    changed_weights["model.norm.weight"][0] += 1e-6

    assert base == fingerprint(dict(reversed(tiny.weights.items())), **settings)
    others = {
        fingerprint(changed_weights, **settings),
        fingerprint(tiny.weights, **settings | {"dtype": torch.bfloat16}),
        fingerprint(tiny.weights, **settings | {"mode": "fast"}),
        fingerprint(tiny.weights, **settings | {"threads": 2}),
    }
    assert len(others | {base}) == 5
    assert base.endswith("-fp32-inv")


def test_the_fingerprint_covers_how_weights_are_packed(tiny, monkeypatch) -> None:
    settings = {"dtype": torch.float32, "mode": "invariant", "threads": 1, "device": torch.device("cpu")}
    packed = fingerprint(tiny.weights, **settings)

    monkeypatch.setenv("TIDEGAUGE_PREPACK", "0")

    assert fingerprint(tiny.weights, **settings) != packed or not hasattr(torch.ops.mkldnn, "_reorder_linear_weight")


def test_widths_that_cannot_be_invariant_are_refused_at_load(tiny) -> None:
    from kernels.errors import UnsupportedShapeError

    odd = dataclasses.replace(tiny.config, feed_forward=191)

    with pytest.raises(UnsupportedShapeError, match="feed-forward layer is 191 wide"):
        make_decoder(dataclasses.replace(tiny, config=odd))


def test_the_worker_starts_without_django() -> None:
    program = (
        "import sys, workers.inference.__main__, workers.inference.server.app, workers.inference.verify, "
        "workers.inference.parity; print(sorted(m for m in sys.modules if m.split('.')[0] in "
        "('django', 'drift', 'dashboard', 'celery')))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
