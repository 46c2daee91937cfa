"""A Llama-family decoder over a flat ragged batch with paged keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from kernels.attention import write_pages
from kernels.embedding import embed
from kernels.rms_norm import MAX_WIDTH
from kernels.rotary import rotary_tables
from kernels.tiles import check_width
from workers.inference.errors import UnsupportedModelError
from workers.inference.models.config import ModelConfig
from workers.inference.operators.operators import Linear, Operators


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's rows, flat: every scheduled token of every sequence.

    ``slots`` is where a row's key and value go; ``logit_rows`` are the rows whose next-token logits are wanted.
    """

    token_ids: torch.Tensor  # int64 [M]
    positions: torch.Tensor  # int64 [M]
    slots: torch.Tensor  # int64 [M]
    logit_rows: torch.Tensor  # int64 [R]
    plan: Any


class PagedCache:
    """Keys and values of all sequences, in pages that any sequence may own. Page 0 only fills up page tables."""

    def __init__(
        self, config: ModelConfig, pages: int, page_size: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        shape = (pages, page_size, config.kv_heads, config.head_width)
        self.page_size = page_size
        self.keys = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(config.layers)]
        self.values = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(config.layers)]


class Weights:
    """A checkpoint's tensors, converted one at a time as they are asked for."""

    def __init__(self, tensors: Mapping[str, torch.Tensor], dtype: torch.dtype, device: torch.device) -> None:
        self._tensors, self._dtype, self._device = tensors, dtype, device

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def take(self, name: str) -> torch.Tensor:
        """The tensor in the decoder's dtype, on its device."""
        try:
            return self._tensors[name].to(self._device, self._dtype)
        except KeyError:
            raise UnsupportedModelError(f"The checkpoint lacks {name}.") from None


class Layer:
    """One block: attention and gated feed-forward, each on a normalised residual."""

    def __init__(self, config: ModelConfig, weights: Weights, prefix: str, ops: Operators) -> None:
        def take(name: str) -> torch.Tensor:
            return weights.take(f"{prefix}.{name}")

        def joined(names: list[str]) -> Linear:
            bias = [take(f"{name}.bias") for name in names] if f"{prefix}.{names[0]}.bias" in weights else None
            return ops.linear(torch.cat([take(f"{name}.weight") for name in names]), torch.cat(bias) if bias else None)

        self.config, self.ops = config, ops
        self.attention_norm = take("input_layernorm.weight")
        self.feed_forward_norm = take("post_attention_layernorm.weight")
        self.qkv = joined(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"])
        self.output = joined(["self_attn.o_proj"])
        self.gate_up = joined(["mlp.gate_proj", "mlp.up_proj"])
        self.down = joined(["mlp.down_proj"])
        self.query_norm = take("self_attn.q_norm.weight") if config.head_norms else None
        self.key_norm = take("self_attn.k_norm.weight") if config.head_norms else None

    def forward(
        self,
        x: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        batch: Batch,
        keys: torch.Tensor,
        values: torch.Tensor,
    ) -> torch.Tensor:
        """[M, width] -> [M, width]; writes this layer's keys and values of the batch."""
        c, ops = self.config, self.ops
        heads = self.qkv(ops.rms_norm(x, self.attention_norm, c.norm_eps)).view(x.shape[0], -1, c.head_width)
        if self.query_norm is not None and self.key_norm is not None:
            q = ops.rms_norm(heads[:, : c.heads], self.query_norm, c.norm_eps)
            k = ops.rms_norm(heads[:, c.heads : c.heads + c.kv_heads], self.key_norm, c.norm_eps)
            q, k = ops.rotate(q, cos, sin), ops.rotate(k, cos, sin)
        else:
            turned = ops.rotate(heads[:, : c.heads + c.kv_heads], cos, sin)
            q, k = turned[:, : c.heads], turned[:, c.heads :]
        write_pages(keys, batch.slots, k)
        write_pages(values, batch.slots, heads[:, c.heads + c.kv_heads :])
        x = x + self.output(ops.attend(q, keys, values, batch.plan))
        return x + self.down(ops.silu_gate(self.gate_up(ops.rms_norm(x, self.feed_forward_norm, c.norm_eps))))


class Decoder:
    """The model: token ids in, next-token logits out.

    Args:
        weights: Hugging Face names, any float dtype; converted to ``dtype`` on ``device``.
        layers: use only the first so many, for a quick control; all by default.

    Raises:
        UnsupportedModelError: a tensor is missing.
        UnsupportedShapeError: a width at which invariance cannot be had (invariant mode only).
    """

    def __init__(
        self,
        config: ModelConfig,
        weights: Mapping[str, torch.Tensor],
        ops: Operators,
        dtype: torch.dtype,
        device: torch.device | None = None,
        layers: int | None = None,
    ) -> None:
        device = device or torch.device("cpu")
        self.config, self.ops, self.dtype, self.device = config, ops, dtype, device
        if ops.mode == "invariant":
            _check_widths(config)
        held = Weights(weights, dtype, device)
        self.embedding = held.take("model.embed_tokens.weight")
        self.layers = [Layer(config, held, f"model.layers.{index}", ops) for index in range(layers or config.layers)]
        self.final_norm = held.take("model.norm.weight")
        self.head = ops.linear(self.embedding if config.tied_embeddings else held.take("lm_head.weight"), None)
        cos, sin = rotary_tables(config.inverse_frequencies, config.context, dtype)
        self.cos, self.sin = cos.to(device), sin.to(device)

    @torch.inference_mode()
    def forward(self, batch: Batch, cache: PagedCache) -> torch.Tensor:
        """Logits of ``batch.logit_rows``: float32 [R, vocabulary]."""
        return self.compute(batch, cache)

    def compute(self, batch: Batch, cache: PagedCache) -> torch.Tensor:
        """:meth:`forward` for callers that may want gradients."""
        x = embed(batch.token_ids, self.embedding)
        cos, sin = self.cos.index_select(0, batch.positions), self.sin.index_select(0, batch.positions)
        for layer, keys, values in zip(self.layers, cache.keys, cache.values, strict=False):
            x = layer.forward(x, cos, sin, batch, keys, values)
        wanted = self.ops.rms_norm(x.index_select(0, batch.logit_rows), self.final_norm, self.config.norm_eps)
        return self.head(wanted).float()


def _check_widths(config: ModelConfig) -> None:
    check_width("the feed-forward layer", config.feed_forward)
    check_width("the model", config.width)
    if max(config.width, config.head_width) > MAX_WIDTH:
        raise UnsupportedModelError(
            f"Rows of {config.width} are summed by several threads; at most {MAX_WIDTH} are allowed."
        )
