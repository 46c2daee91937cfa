"""The bundled model as ``transformers`` itself reads and computes it."""

from __future__ import annotations

from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from workers.inference.checkpoints.checkpoint import bundled_path


def transformers_model(dtype: torch.dtype) -> Any:
    """``from_pretrained`` would ask for one more package to read GGUF; its reader alone does not."""
    path = str(bundled_path())
    config = LlamaConfig(**load_gguf_checkpoint(path)["config"])
    with torch.device("meta"):
        empty = LlamaForCausalLM(config)
    tensors = load_gguf_checkpoint(path, return_tensors=True, model_to_load=empty)["tensors"]
    model = LlamaForCausalLM(config)
    missing = model.load_state_dict({name: torch.as_tensor(value) for name, value in tensors.items()}, strict=False)
    assert missing.missing_keys in ([], ["lm_head.weight"]), missing
    model.tie_weights()
    return model.to(dtype).eval()
