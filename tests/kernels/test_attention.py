"""Paged attention: right, causal, and blind to its batch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import attention_plan
from kernels.attention_check import HEADS, KV_HEADS, WIDTH, Tokens, _run, _stock
from kernels.attention_plan import AttentionPlan, Segment, plan_attention
from kernels.tiles import KV_TILE

DTYPES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=["bf16", "fp32"])


def random_tokens(length: int, dtype: torch.dtype, seed: int) -> Tokens:
    generator = torch.Generator().manual_seed(seed)

    def draw(heads: int) -> torch.Tensor:
        return torch.randn(length, heads, WIDTH, generator=generator).to(dtype)

    return Tokens(draw(HEADS), draw(KV_HEADS), draw(KV_HEADS))


@DTYPES
@pytest.mark.parametrize("length", [1, 4, 63, 64, 65, 200])
def test_it_agrees_with_attention_in_double_precision(dtype, length) -> None:
    tokens = random_tokens(length, dtype, seed=length)

    (rows,) = _run([tokens], length)

    exact = _stock(tokens.q.double(), tokens.k.double(), tokens.v.double())
    assert torch.allclose(rows.double(), exact, atol=0.03 if dtype == torch.bfloat16 else 2e-6)


@DTYPES
@given(lengths=st.lists(st.integers(1, 150), min_size=1, max_size=6), chunk=st.integers(1, 90), scatter=st.booleans())
@settings(max_examples=12, deadline=None)
def test_neither_chunks_nor_neighbours_nor_pages_reach_a_row(dtype, lengths, chunk, scatter) -> None:
    tokens = [random_tokens(length, dtype, seed) for seed, length in enumerate(lengths)]

    together = _run(tokens, chunk, scatter=scatter)

    for one, rows in zip(tokens, together, strict=True):
        assert torch.equal(rows, _run([one], len(one.q))[0])


def test_what_lies_behind_the_causal_limit_adds_nothing() -> None:
    """Pages are reused, so a row always sees stale keys behind its mask."""
    short = random_tokens(70, torch.float32, seed=1)
    changed = Tokens(short.q, short.k.clone(), short.v.clone())
    changed.k[50:] = 1e4
    changed.v[50:] = -1e4

    assert torch.equal(_run([short], 70)[0][:50], _run([changed], 70)[0][:50])


def plans(*batches: list[Segment]) -> list[AttentionPlan]:
    made = [plan_attention(segments, 16, 3, WIDTH, torch.float32, torch.device("cpu")) for segments in batches]
    return [plan for plan in made if isinstance(plan, AttentionPlan)]


def test_how_many_keys_a_row_sees_follows_from_its_position() -> None:
    long = Segment(pages=range(1, 40), start=0, count=600)
    decode = Segment(pages=range(50, 90), start=599, count=1)

    whole, alone, together = plans([long], [decode], [decode, long])

    for plan in (whole, alone, together):
        for call in plan.calls:
            assert call.extent % KV_TILE == 0
            assert call.mask.shape == (call.items, 1, call.size * 3, call.extent)
    assert alone.calls[0].extent == max(call.extent for call in whole.calls) == 640


def test_a_batch_that_only_decodes_is_attended_as_it_lies() -> None:
    (plan,) = plans([Segment(pages=range(1, 9), start=start, count=1) for start in (70, 90, 127)])

    assert (plan.sources, plan.places, len(plan.calls)) == (None, None, 1)


def test_prompts_that_see_equally_many_keys_share_one_call() -> None:
    (plan,) = plans([Segment(pages=range(1, 9), start=0, count=count) for count in (38, 41, 60)])

    assert [(call.items, call.size, call.owners) for call in plan.calls] == [(3, 64, 3)]


@DTYPES
@pytest.mark.parametrize("sizes", [(1,), (2,), (4, 8), (1, 16, 64)])
def test_rows_find_their_way_through_tiles_of_any_size(dtype, sizes, monkeypatch) -> None:
    """A machine on which only the base size holds cuts a prompt into many tiles of one sequence."""
    tokens = [random_tokens(length, dtype, seed=length) for length in (1, 30, 131)]
    expected = [_stock(one.q.double(), one.k.double(), one.v.double()) for one in tokens]
    monkeypatch.setattr(attention_plan, "equal_sizes", lambda *shape: sizes)

    for rows, exact in zip(_run(tokens, 50, scatter=True), expected, strict=True):
        assert torch.allclose(rows.double(), exact, atol=0.03 if dtype == torch.bfloat16 else 2e-6)
