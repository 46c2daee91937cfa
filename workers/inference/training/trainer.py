"""A forward over whole sequences, with gradients, on the kernels that serve."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Items

import torch

from workers.inference.engine.engine import PAGE_SIZE
from workers.inference.engine.runner import Runner
from workers.inference.engine.sampling_params import SamplingParams
from workers.inference.engine.scheduler import Chunk
from workers.inference.engine.sequence import Progress, Sequence
from workers.inference.models.config import ModelConfig
from workers.inference.models.decoder import Decoder
from workers.inference.operators.operators import operators_for
from workers.inference.text import TextStream
from workers.inference.training.differentiable import DifferentiableOperators


def trainable_decoder(
    config: ModelConfig, parameters: Mapping[str, torch.Tensor], mode: str, dtype: torch.dtype
) -> Decoder:
    """The decoder of a mode with gradients to ``parameters``, which stay in their own dtype.

    Weights are packed when a decoder is built, so each optimiser step needs a new one.
    """
    return Decoder(config, parameters, DifferentiableOperators(operators_for(mode)), dtype)


def all_logprobs(decoder: Decoder, sequences: Items[Items[int]]) -> list[torch.Tensor]:
    """Log-probabilities of every next token, all sequences in one batch: float32 [L - 1, V] each, differentiable."""
    chunks: list[Chunk] = []
    wanted: list[int] = []
    next_page, row = 1, 0
    for token_ids in sequences:
        sequence = Sequence(list(token_ids), SamplingParams(max_tokens=0), TextStream(None), _ignore)
        pages = -(-len(token_ids) // PAGE_SIZE)
        sequence.pages = list(range(next_page, next_page + pages))
        next_page += pages
        chunks.append(Chunk(sequence, 0, len(token_ids)))
        wanted += range(row, row + len(token_ids) - 1)
        row += len(token_ids)
    runner = Runner(decoder, next_page, PAGE_SIZE)
    logits = decoder.compute(runner.prepare(chunks, wanted), runner.cache)[: len(wanted)]
    return list(torch.split(decoder.ops.log_softmax(logits), [len(token_ids) - 1 for token_ids in sequences]))


def _ignore(progress: Progress) -> None:
    """A training batch generates nothing."""
