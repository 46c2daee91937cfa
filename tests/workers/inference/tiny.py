"""Small random models, made by ``transformers``, so that the engine can be tested in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from workers.inference.checkpoints.checkpoint import Checkpoint, load_checkpoint
from workers.inference.engine.sampling_params import SamplingParams
from workers.inference.engine.sequence import Sequence as Answer
from workers.inference.models.decoder import Decoder
from workers.inference.operators.operators import operators_for
from workers.inference.text import TextStream

VOCABULARY = 320
_SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 192,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.2,
    "eos_token_id": 2,
    "bos_token_id": 1,
}
LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
FAMILIES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "llama 2": (LlamaConfig, LlamaForCausalLM, {"num_key_value_heads": 4}),
    "llama 3": (LlamaConfig, LlamaForCausalLM, {"rope_parameters": LLAMA3_ROPE}),
    "smollm2": (LlamaConfig, LlamaForCausalLM, {"tie_word_embeddings": True}),
    "llama with biases": (LlamaConfig, LlamaForCausalLM, {"attention_bias": True}),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, {"tie_word_embeddings": True}),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, {"head_dim": 32}),
    "mistral": (MistralConfig, MistralForCausalLM, {"sliding_window": 256}),
}


def save_family(name: str, folder: Path, **save: Any) -> Any:
    """Save a random model of a family as a Hugging Face folder. Returns the ``transformers`` model in float32."""
    torch.manual_seed(len(name))
    make_config, make_model, changes = FAMILIES[name]
    model = make_model(make_config(**(_SIZES | changes))).eval()
    for parameter_name, parameter in model.named_parameters():
        # Norms and biases start as ones and zeros, which would hide a mix-up.
        if "norm" in parameter_name or "bias" in parameter_name:
            torch.nn.init.normal_(parameter, mean=1.0 if "norm" in parameter_name else 0.0, std=0.3)
    model.save_pretrained(folder, **save)
    return model


def tiny_checkpoint(folder: Path, family: str = "smollm2") -> Checkpoint:
    save_family(family, folder)
    return load_checkpoint(str(folder))


def make_decoder(checkpoint: Checkpoint, mode: str = "invariant", dtype: torch.dtype = torch.float32) -> Decoder:
    return Decoder(checkpoint.config, checkpoint.weights, operators_for(mode), dtype)


def answer(prompt_ids: Sequence[int], steps: list[Any] | None = None, **params: Any) -> Answer:
    """A sequence whose progress is appended to ``steps``."""
    seen = [] if steps is None else steps
    settings = {"max_tokens": 8, "temperature": 0.0, "ignore_end": True} | params
    return Answer(list(prompt_ids), SamplingParams(**settings), TextStream(None), seen.append)


def random_prompts(count: int, seed: int = 0, low: int = 3, high: int = 60) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(low, high, (count,), generator=generator).tolist()
    return [torch.randint(3, VOCABULARY, (length,), generator=generator).tolist() for length in lengths]
