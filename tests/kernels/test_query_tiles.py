"""Which numbers of query positions may share a call."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st

from kernels import query_tiles
from kernels.query_tiles import SIZES, equal_sizes, tile_for


@pytest.fixture(autouse=True)
def forget(monkeypatch) -> None:
    monkeypatch.setattr(query_tiles, "_known", {})


def attention_that_switches(at_rows: int, where: str):
    """Attention in double precision whose rounding depends on the number of rows, in its scores or in its sums."""

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, attn_mask: torch.Tensor) -> torch.Tensor:
        few = q.shape[2] < at_rows
        half = k.shape[-1] // 2 if where == "scores" else k.shape[-2] // 2

        def product(a: torch.Tensor, b: torch.Tensor, stage: str) -> torch.Tensor:
            if few or stage != where:
                return torch.stack([(row[..., None] * b).sum(-2) for row in a.unbind(2)], 2)
            return product(a[..., :half], b[..., :half, :], "") + product(a[..., half:], b[..., half:, :], "")

        scores = product(q, k.transpose(-1, -2), "scores") / k.shape[-1] ** 0.5 + attn_mask
        return product(torch.softmax(scores, -1), v, "values")

    return attend


@pytest.mark.parametrize("where", ["scores", "values"])
@pytest.mark.parametrize(
    ("at_rows", "expected"),
    [(1000, (1, *SIZES)), (3, (2, *SIZES)), (64, (1, 8, 16)), (2, (1, *SIZES))],
)
def test_a_size_is_used_only_if_it_gives_the_bits_of_the_base(where, at_rows, expected, monkeypatch) -> None:
    """Two query heads per key head: size 1 is two rows, size 32 is 64."""
    monkeypatch.setattr(F, "scaled_dot_product_attention", attention_that_switches(at_rows, where))

    assert equal_sizes(64, 2, 32, torch.float32) == expected


@given(positions=st.integers(1, 64))
def test_a_tile_holds_what_it_is_given_with_little_to_spare(positions) -> None:
    size = tile_for(positions, (1, *SIZES))

    assert positions <= size <= max(8, 2 * positions - 1)


def test_the_largest_tile_is_repeated_where_none_is_large_enough() -> None:
    assert tile_for(64, (2,)) == 2
    assert tile_for(64, (1, 8, 16)) == 16
