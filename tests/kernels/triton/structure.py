"""The CUDA kernels through Triton's interpreter.

It simulates programs one after another, so it shows structure (masks, tails, independence of M, BLOCK_M and BLOCK_N) and
nothing about a GPU's own arithmetic.
"""

from __future__ import annotations

import dataclasses

import pytest
import torch

from kernels import attention_check
from kernels.attention_plan import Segment
from kernels.rms_norm import rms_norm
from kernels.silu_gate import silu_gate
from kernels.softmax import log_softmax, softmax
from kernels.triton import attention, matmul, matmul_tiles, rows


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def test_the_product_is_right_with_tails_in_every_direction() -> None:
    x, weight, bias = torch.randn(19, 200), torch.randn(70, 200), torch.randn(70)

    assert torch.allclose(matmul.matmul(x, weight, bias), x @ weight.T + bias, atol=1e-4)


def test_the_number_of_rows_changes_no_bit_across_buckets() -> None:
    x, weight = torch.randn(270, 130), torch.randn(40, 130)
    everything = matmul.matmul(x, weight)

    for count in (1, 16, 17, 255, 256, 257):
        assert torch.equal(matmul.matmul(x[:count], weight), everything[:count]), f"{count} rows"


def test_only_the_reduction_tile_moves_bits(monkeypatch) -> None:
    x, weight = torch.randn(8, 300), torch.randn(48, 300)
    usual = matmul_tiles.tiles_for(48, 300)
    before = matmul.matmul(x, weight)

    other_cut = dataclasses.replace(usual, buckets=(matmul_tiles.RowBucket(1 << 30, 32, 16, 4, 2),))
    monkeypatch.setattr(matmul, "tiles_for", lambda *_: other_cut)
    assert torch.equal(matmul.matmul(x, weight), before)

    monkeypatch.setattr(matmul, "tiles_for", lambda *_: dataclasses.replace(usual, block_k=16))
    assert not torch.equal(matmul.matmul(x, weight), before)


def test_the_table_has_no_place_for_a_reduction_that_follows_the_rows() -> None:
    assert {field.name for field in dataclasses.fields(matmul_tiles.RowBucket)}.isdisjoint({"block_k", "split_k"})
    with pytest.raises(ValueError, match="would change the instruction"):
        matmul_tiles.RowBucket(64, 128, 64, 4, 3)
    for tiles in [*matmul_tiles.TABLE.values(), matmul_tiles.tiles_for(5, 5), matmul_tiles.tiles_for(9000, 9000)]:
        assert [bucket.max_rows for bucket in tiles.buckets] == sorted(bucket.max_rows for bucket in tiles.buckets)


@pytest.mark.parametrize("width", [64, 100])
def test_row_operations_agree_with_the_cpu_kernels(width) -> None:
    x, weight = torch.randn(5, width), torch.randn(width)
    gate_up = torch.randn(16, 2 * 64)

    assert torch.allclose(rows.rms_norm(x, weight, 1e-5), rms_norm(x, weight, 1e-5), atol=1e-5)
    assert torch.allclose(rows.silu_gate(gate_up), silu_gate(gate_up), atol=1e-5)
    assert torch.allclose(rows.softmax(x, log=True), log_softmax(x), atol=1e-5)
    assert torch.allclose(rows.softmax(x, log=False), softmax(x), atol=1e-6)


def test_row_operations_do_not_see_the_number_of_rows() -> None:
    x, weight = torch.randn(9, 96), torch.randn(96)

    assert torch.equal(rows.rms_norm(x[3:4], weight, 1e-5)[0], rows.rms_norm(x, weight, 1e-5)[3])
    assert torch.equal(rows.softmax(x[3:4], log=True)[0], rows.softmax(x, log=True)[3])
    assert torch.equal(rows.silu_gate(x[3:4])[0], rows.silu_gate(x)[3])


def run_on_the_kernel(monkeypatch, tokens, chunk: int, scatter: bool = False) -> list[torch.Tensor]:
    def plan(segments, page_size, group, width, dtype, device):
        return attention.plan_paged(segments, device)

    monkeypatch.setattr(attention_check, "plan_attention", plan)
    monkeypatch.setattr(attention_check, "attend", attention.attend_paged)
    return attention_check._run(tokens, chunk, scatter=scatter)


def random_tokens(length: int) -> attention_check.Tokens:
    shapes = (attention_check.HEADS, attention_check.KV_HEADS, attention_check.KV_HEADS)
    return attention_check.Tokens(*(torch.randn(length, heads, attention_check.WIDTH) for heads in shapes))


def test_attention_agrees_with_torch_across_splits(monkeypatch) -> None:
    monkeypatch.setattr(attention, "SPLIT", 64)
    tokens = random_tokens(150)

    (got,) = run_on_the_kernel(monkeypatch, [tokens], 150)

    exact = attention_check._stock(tokens.q.double(), tokens.k.double(), tokens.v.double())
    assert torch.allclose(got.double(), exact, atol=1e-5)


def test_attention_does_not_see_chunks_neighbours_or_pages(monkeypatch) -> None:
    monkeypatch.setattr(attention, "SPLIT", 64)
    tokens = [random_tokens(length) for length in (70, 5, 131)]
    alone = [run_on_the_kernel(monkeypatch, [one], 200)[0] for one in tokens]

    together = run_on_the_kernel(monkeypatch, tokens, 33, scatter=True)

    for got, expected in zip(together, alone, strict=True):
        assert torch.equal(got, expected)


def test_the_longest_sequence_chooses_the_grid_and_nothing_else() -> None:
    short = Segment(pages=[1, 2], start=20, count=1)
    plan = attention.plan_paged([short, Segment(list(range(3, 80)), 0, 1000)], torch.device("cpu"))

    assert plan.positions[0] == 20 // attention.QUERY_TILE * attention.QUERY_TILE
    assert plan.splits == 4
    assert len(plan.tile_rows) == 1001
