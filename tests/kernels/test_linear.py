"""The linear layer: equal bits in any batch, and the same numbers as torch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from kernels.linear import TiledLinear
from kernels.prepack import BlockedWeight, PlainWeight, backend
from kernels.tiles import row_tile


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=["bf16", "fp32"])
@pytest.mark.parametrize("private", ["1", "0"], ids=["packed", "public fallback"])
def test_a_row_has_the_same_bits_in_every_batch(dtype, private, monkeypatch) -> None:
    monkeypatch.setenv("TIDEGAUGE_PREPACK", private)
    torch.manual_seed(0)
    layer = TiledLinear(torch.randn(96, 4096).to(dtype), torch.randn(96).to(dtype))
    x = torch.randn(65, 4096).to(dtype)
    everything = layer(x)

    for rows in (1, 2, 3, 4, 8, 9, 16, 17, 33, 64):
        assert torch.equal(layer(x[:rows]), everything[:rows]), f"{rows} rows differ from 65"
    for shift in (1, 5, 31):
        assert torch.equal(layer(x.roll(shift, 0)), everything.roll(shift, 0)), f"moved by {shift} rows"


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 0.02), (torch.float32, 1e-5)])
def test_the_numbers_are_those_of_torch(dtype, tolerance) -> None:
    torch.manual_seed(1)
    weight, bias, x = torch.randn(48, 576).to(dtype), torch.randn(48).to(dtype), torch.randn(64, 576).to(dtype)

    result = TiledLinear(weight, bias)(x)

    exact = x.double() @ weight.double().T + bias.double()
    assert torch.allclose(result.double(), exact, rtol=tolerance, atol=tolerance * 24)


def test_stock_linear_does_not_pass_the_same_check() -> None:
    """Without this, equality above might only say that the library happens not to vary."""
    torch.manual_seed(2)
    weight, x = torch.randn(512, 4096), torch.randn(64, 4096)
    everything = F.linear(x, weight)

    assert any(not torch.equal(F.linear(x[:rows], weight), everything[:rows]) for rows in (1, 2, 3, 4, 8))


def test_no_rows_give_no_rows() -> None:
    assert TiledLinear(torch.randn(8, 64))(torch.empty(0, 64)).shape == (0, 8)


def test_the_private_operations_are_used_only_where_they_exist(monkeypatch) -> None:
    weight = torch.randn(32, 64)
    monkeypatch.setenv("TIDEGAUGE_PREPACK", "0")
    assert backend() == "plain"
    assert isinstance(TiledLinear(weight)._packed, PlainWeight)
    monkeypatch.delenv("TIDEGAUGE_PREPACK")
    if hasattr(torch.ops.mkldnn, "_reorder_linear_weight"):
        assert isinstance(TiledLinear(weight)._packed, BlockedWeight)


def test_the_tile_does_not_depend_on_anything_but_the_weight_and_the_machine() -> None:
    shapes = ((576, 576), (3072, 576), (49_152, 576))

    assert [row_tile(*shape, torch.float32) for shape in shapes] == [16, 16, 16]
    assert [row_tile(*shape, torch.bfloat16) for shape in shapes] in ([16, 16, 16], [32, 48, 48])
