"""Which numbers of rows a linear layer may use, and how it covers a batch with them."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st

from kernels import row_tiles
from kernels.linear import TiledLinear
from kernels.row_tiles import SIZES, equal_sizes, next_call


class Switching:
    """A library that sums in another order from a number of rows on."""

    def __init__(self, weight: torch.Tensor, limit: int) -> None:
        self.weight, self.limit = weight, limit

    def multiply(self, rows: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        half = self.weight.shape[1] // 2
        if len(rows) < self.limit:
            return torch.stack([(row * self.weight).sum(-1) for row in rows])
        return torch.stack(
            [(row * self.weight)[:, :half].sum(-1) + (row * self.weight)[:, half:].sum(-1) for row in rows]
        )


@pytest.fixture(autouse=True)
def forget(monkeypatch) -> None:
    monkeypatch.setattr(row_tiles, "_known", {})


@pytest.mark.parametrize(("limit", "expected"), [(1000, SIZES), (64, (8, 16, 32, 48)), (16, SIZES[1:])])
def test_a_size_is_used_only_if_it_gives_the_bits_of_the_base(limit, expected) -> None:
    def packing(weight: torch.Tensor, rows: int) -> Switching:
        return Switching(weight, limit)

    assert equal_sizes(24, 333, torch.float32, base=16, packing=packing) == expected
    assert equal_sizes(24, 332, torch.bfloat16, base=16, packing=packing) == expected


def test_the_last_call_of_the_trial_is_filled_up_as_a_layer_fills_it() -> None:
    """256 rows are not a multiple of 48: with a last call of 16 rows, another order would be blamed on 64."""

    def packing(weight: torch.Tensor, rows: int) -> Switching:
        return Switching(weight, limit=33)

    assert equal_sizes(24, 333, torch.float32, base=48, packing=packing) == (48, 64, 128, 256)


@given(rows=st.integers(0, 700), others=st.sets(st.sampled_from(SIZES)))
def test_any_batch_is_covered_and_little_is_padded(rows, others) -> None:
    sizes = tuple(sorted(others | {16}))

    calls, remaining = [], rows
    while remaining > 0:
        calls.append(next_call(remaining, sizes))
        remaining -= calls[-1]

    assert set(calls) <= set(sizes)
    assert sum(calls) >= rows
    assert -remaining < max(min(sizes), max(calls, default=0) / 2 + 1)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=["bf16", "fp32"])
def test_all_sizes_of_a_real_layer_give_one_result(dtype) -> None:
    torch.manual_seed(3)
    layer = TiledLinear(torch.randn(192, 576).to(dtype))
    x = torch.randn(300, 576).to(dtype)
    base = torch.cat(
        [
            layer._packed.multiply(part, None)
            for part in torch.split(F.pad(x, (0, 0, 0, -len(x) % layer.tile)), layer.tile)
        ]
    )

    for rows in (1, 7, 8, 9, 16, 17, 24, 32, 33, 48, 64, 65, 128, 129, 256, 300):
        assert torch.equal(layer(x[:rows]), base[:rows]), f"{rows} rows with sizes {layer.sizes}"
