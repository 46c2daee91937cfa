"""Hugging Face folders: config.json plus safetensors, in one file or sharded."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import torch
from safetensors.torch import load_file

from workers.inference.checkpoints.checkpoint import Checkpoint
from workers.inference.errors import UnsupportedModelError
from workers.inference.models.config import from_huggingface


def read(folder: Path) -> Checkpoint:
    """Read a model folder; weights keep the dtype they were stored in.

    Raises:
        UnsupportedModelError: no config.json, no safetensors, or a decoder this worker does not compute.
    """
    try:
        raw = json.loads((folder / "config.json").read_text())
    except OSError as error:
        raise UnsupportedModelError(f"{folder.name} has no readable config.json.") from error
    config = from_huggingface(raw)
    generation = folder / "generation_config.json"
    if generation.is_file():
        ends = json.loads(generation.read_text()).get("eos_token_id")
        extra = [ends] if isinstance(ends, int) else ends or []
        config = dataclasses.replace(config, end_tokens=config.end_tokens | frozenset(extra))
    weights: dict[str, torch.Tensor] = {}
    for shard in _shards(folder):
        weights |= load_file(shard)
    return Checkpoint(
        name=folder.resolve().name,
        config=config,
        weights=weights,
        tokenizer={"pretrained_model_name_or_path": str(folder)},
    )


def _shards(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        return sorted({folder / name for name in json.loads(index.read_text())["weight_map"].values()})
    found = sorted(folder.glob("*.safetensors"))
    if not found:
        raise UnsupportedModelError(f"{folder.name} holds no safetensors; other weight formats are not read.")
    return found
