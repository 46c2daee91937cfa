"""Operations on single rows: norm, gate, rotary, softmax."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.errors import UnsupportedShapeError
from kernels.rms_norm import rms_norm
from kernels.rotary import rotary_tables, rotate
from kernels.silu_gate import silu_gate
from kernels.softmax import log_softmax, softmax
from kernels.tiles import check_width

DTYPES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=["bf16", "fp32"])


@DTYPES
def test_rms_norm_matches_its_formula_in_double_precision(dtype) -> None:
    x, weight = torch.randn(5, 576).to(dtype), torch.randn(576).to(dtype)

    exact = x.double() / (x.double().square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight.double()

    assert torch.allclose(rms_norm(x, weight, 1e-5).double(), exact, atol=0.05 if dtype == torch.bfloat16 else 1e-5)


@DTYPES
def test_silu_gate_matches_torch_and_does_not_see_its_neighbours(dtype) -> None:
    x = torch.randn(70, 2 * 1536).to(dtype)

    gated = silu_gate(x)

    gate, up = x.double().chunk(2, -1)
    assert torch.allclose(gated.double(), F.silu(gate) * up, atol=0.1 if dtype == torch.bfloat16 else 1e-5)
    order = torch.randperm(len(x))
    assert torch.equal(silu_gate(x[order]), gated[order])
    assert torch.equal(silu_gate(x[:9].contiguous()), gated[:9])


def test_rotation_keeps_lengths_and_turns_by_the_position() -> None:
    cos, sin = rotary_tables(1.0 / 10_000.0 ** (torch.arange(0, 64, 2) / 64), 50, torch.float32)
    x = torch.randn(50, 3, 64)

    turned = rotate(x, cos, sin)

    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), rtol=1e-5)
    assert torch.equal(turned[0], x[0])
    # The product of two turned vectors depends on the distance of their positions only.
    same = x[:1].expand(50, -1, -1)
    products = (rotate(same, cos, sin)[:-3] * rotate(same, cos, sin)[3:]).sum(-1)
    assert torch.allclose(products, products[:1].expand_as(products), atol=1e-3)


@given(rows=st.integers(1, 40), seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_a_row_of_softmax_is_the_same_alone_and_in_any_batch(rows, seed) -> None:
    logits = torch.randn(rows, 1003, generator=torch.Generator().manual_seed(seed)) * 8
    row = seed % rows

    assert torch.equal(log_softmax(logits)[row], log_softmax(logits[row : row + 1])[0])
    assert torch.equal(softmax(logits)[row], softmax(logits[row : row + 1])[0])


def test_softmax_of_no_rows_is_no_rows() -> None:
    assert log_softmax(torch.empty(0, 10)).shape == (0, 10)


def test_a_width_that_leaves_a_partial_vector_is_refused_by_name() -> None:
    check_width("the feed-forward layer", 1536)
    with pytest.raises(UnsupportedShapeError, match="the feed-forward layer is 333 wide"):
        check_width("the feed-forward layer", 333)
