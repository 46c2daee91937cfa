"""What a checkpoint says about its decoder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from workers.inference.errors import UnsupportedModelError

FAMILIES = {"llama", "qwen2", "qwen3", "mistral"}


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Dimensions and constants of a Llama-family decoder."""

    family: str
    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    feed_forward: int
    norm_eps: float
    rope_theta: float
    rope_scaling: Mapping[str, Any] | None
    context: int
    tied_embeddings: bool
    qkv_bias: bool
    output_bias: bool
    head_norms: bool
    end_tokens: frozenset[int]

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise UnsupportedModelError(f"Model family '{self.family}' is not one of {', '.join(sorted(FAMILIES))}.")
        if self.heads % self.kv_heads:
            raise UnsupportedModelError(f"{self.heads} query heads cannot share {self.kv_heads} key heads evenly.")

    @property
    def inverse_frequencies(self) -> torch.Tensor:
        """Radians per position of each rotary pair: float32 [head_width / 2]."""
        pairs = torch.arange(0, self.head_width, 2, dtype=torch.int64).float() / self.head_width
        plain = 1.0 / self.rope_theta**pairs
        scaling = self.rope_scaling or {}
        kind = scaling.get("rope_type", scaling.get("type", "default"))
        if kind == "default":
            return plain
        if kind == "linear":
            return plain / float(scaling["factor"])
        if kind == "llama3":
            return _llama3_frequencies(plain, scaling)
        raise UnsupportedModelError(f"Rotary scaling '{kind}' is not supported; default, linear and llama3 are.")


def _llama3_frequencies(plain: torch.Tensor, scaling: Mapping[str, Any]) -> torch.Tensor:
    """Slow rotations stretched by ``factor``, fast ones kept, a linear blend between (Llama 3.1 report)."""
    original = float(scaling["original_max_position_embeddings"])
    low, high = float(scaling["low_freq_factor"]), float(scaling["high_freq_factor"])
    factor = float(scaling["factor"])
    wavelength = 2 * math.pi / plain
    blend = (original / wavelength - low) / (high - low)
    blended = (1 - blend) * plain / factor + blend * plain
    stretched = torch.where(wavelength > original / low, plain / factor, blended)
    return torch.where(wavelength < original / high, plain, stretched)


def from_huggingface(raw: Mapping[str, Any]) -> ModelConfig:
    """Read a ``config.json``.

    A sliding window is honoured by limiting the context to it: inside the window it changes nothing.

    Raises:
        UnsupportedModelError: a family, activation or rotary scaling that the decoder does not compute.
    """
    family = str(raw.get("model_type", ""))
    if raw.get("hidden_act", "silu") != "silu":
        raise UnsupportedModelError(f"Activation '{raw['hidden_act']}' is not supported; silu is.")
    heads = int(raw["num_attention_heads"])
    context = int(raw.get("max_position_embeddings", 2048))
    window = raw.get("sliding_window") if family == "mistral" or raw.get("use_sliding_window") else None
    rope = raw.get("rope_parameters") or {}
    ends = raw.get("eos_token_id")
    biased = bool(raw.get("attention_bias", False))
    return ModelConfig(
        family=family,
        vocabulary=int(raw["vocab_size"]),
        width=int(raw["hidden_size"]),
        layers=int(raw["num_hidden_layers"]),
        heads=heads,
        kv_heads=int(raw.get("num_key_value_heads") or heads),
        head_width=int(raw.get("head_dim") or int(raw["hidden_size"]) // heads),
        feed_forward=int(raw["intermediate_size"]),
        norm_eps=float(raw.get("rms_norm_eps", 1e-6)),
        rope_theta=float(raw.get("rope_theta") or rope.get("rope_theta") or 10_000.0),
        rope_scaling=raw.get("rope_scaling") or (rope or None),
        context=min(context, int(window)) if window else context,
        tied_embeddings=bool(raw.get("tie_word_embeddings", False)),
        qkv_bias=family == "qwen2" or biased,
        output_bias=biased and family == "llama",
        head_norms=family == "qwen3",
        end_tokens=frozenset([ends] if isinstance(ends, int) else ends or []),
    )
