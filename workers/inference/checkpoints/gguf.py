"""GGUF files: quantised blocks become float32 tensors under Hugging Face names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGUFReader, dequantize

from workers.inference.checkpoints.checkpoint import Checkpoint
from workers.inference.errors import UnsupportedModelError
from workers.inference.models.config import ModelConfig

_OUTSIDE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_INSIDE = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def read(path: Path) -> Checkpoint:
    """Read weights and metadata of a GGUF file.

    Raises:
        UnsupportedModelError: the architecture or a tensor is not one of a Llama-family decoder.
    """
    reader = GGUFReader(path)
    config = _config(reader)
    weights: dict[str, torch.Tensor] = {}
    for tensor in reader.tensors:
        if tensor.name == "rope_freqs.weight":
            raise UnsupportedModelError("Rotary factors in a tensor are not supported; use the Hugging Face folder.")
        name = _huggingface_name(tensor.name)
        values = torch.from_numpy(np.array(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32))
        if config.family in ("llama", "mistral") and name.split(".")[-2] in ("q_proj", "k_proj"):
            values = _halves_from_pairs(values, config.heads if "q_proj" in name else config.kv_heads)
        weights[name] = values
    return Checkpoint(
        name=re.sub(r"[.-](q\d\w*|f16|f32|bf16)$", "", path.stem, flags=re.IGNORECASE).lower(),
        config=config,
        weights=weights,
        tokenizer={"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name},
    )


def _config(reader: GGUFReader) -> ModelConfig:
    family = str(_field(reader, "general.architecture"))

    def value(key: str, default: Any = None) -> Any:
        return _field(reader, f"{family}.{key}", default)

    names = {tensor.name for tensor in reader.tensors}
    heads, width = int(value("attention.head_count")), int(value("embedding_length"))
    embedding = next(t for t in reader.tensors if t.name == "token_embd.weight")
    scaling = value("rope.scaling.type")
    ends = {_field(reader, f"tokenizer.ggml.{key}_token_id") for key in ("eos", "eot")}
    return ModelConfig(
        family=family,
        vocabulary=int(embedding.shape[1]),
        width=width,
        layers=int(value("block_count")),
        heads=heads,
        kv_heads=int(value("attention.head_count_kv", heads)),
        head_width=int(value("attention.key_length", width // heads)),
        feed_forward=int(value("feed_forward_length")),
        norm_eps=float(value("attention.layer_norm_rms_epsilon")),
        rope_theta=float(value("rope.freq_base", 10_000.0)),
        rope_scaling=None
        if scaling in (None, "none")
        else {"rope_type": scaling, "factor": value("rope.scaling.factor")},
        context=int(value("context_length")),
        tied_embeddings="output.weight" not in names,
        qkv_bias="blk.0.attn_q.bias" in names,
        output_bias="blk.0.attn_output.bias" in names,
        head_norms="blk.0.attn_q_norm.weight" in names,
        end_tokens=frozenset(int(end) for end in ends if end is not None),
    )


def _field(reader: GGUFReader, key: str, default: Any = None) -> Any:
    field = reader.get_field(key)
    return default if field is None else field.contents()


def _huggingface_name(name: str) -> str:
    if name in _OUTSIDE:
        return _OUTSIDE[name]
    match = re.fullmatch(r"blk\.(\d+)\.(\w+)\.(weight|bias)", name)
    if match is None or match[2] not in _INSIDE:
        raise UnsupportedModelError(f"Tensor '{name}' does not belong to a Llama-family decoder.")
    return f"model.layers.{match[1]}.{_INSIDE[match[2]]}.{match[3]}"


def _halves_from_pairs(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Undo the row order that GGUF gives Llama's rotary pairs: (2i, 2i + 1) becomes (i, i + D / 2)."""
    rows = weight.shape[0]
    paired = weight.view(heads, rows // heads // 2, 2, *weight.shape[1:])
    return paired.transpose(1, 2).reshape(weight.shape)
