"""An engine that keeps the logits of every position it computes, for verification."""

from __future__ import annotations

from collections.abc import Sequence as Items

import torch

from workers.inference.engine.engine import Engine
from workers.inference.engine.sampling_params import SamplingParams
from workers.inference.engine.scheduler import Chunk
from workers.inference.engine.sequence import Progress, Sequence
from workers.inference.models.decoder import Decoder
from workers.inference.text import TextStream

Rows = dict[int, torch.Tensor]
"""Logits by position: float32 [V] after the tokens 0..position."""


def _ignore(progress: Progress) -> None:
    """Verification reads the sequence itself."""


class RecordingEngine(Engine):
    """Runs of token ids, with logits kept."""

    def __init__(self, decoder: Decoder, **settings: int | bool) -> None:
        super().__init__(decoder, **settings)  # type: ignore[arg-type]
        self.rows: dict[int, Rows] = {}

    def submit(
        self, prompt_ids: Items[int], new_tokens: int, *, score: bool = True, temperature: float = 0.0, seed: int = 0
    ) -> Sequence:
        """Queue a prompt. ``score`` keeps the prompt's rows too, and computes them even where a prefix is cached."""
        params = SamplingParams(
            max_tokens=new_tokens, temperature=temperature, seed=seed, score_prompt=score, ignore_end=True
        )
        sequence = Sequence(list(prompt_ids), params, TextStream(None), _ignore)
        self.rows[sequence.number] = {}
        self.add(sequence)
        return sequence

    def _postprocess(self, chunks: Items[Chunk], owners: Items[tuple[Chunk, int]], logits: torch.Tensor) -> None:
        for row, (chunk, position) in enumerate(owners):
            self.rows[chunk.sequence.number][position] = logits[row]
        super()._postprocess(chunks, owners, logits)


def score_alone(decoder: Decoder, token_ids: Items[int]) -> torch.Tensor:
    """Logits of all positions of one sequence, computed at once and alone: float32 [L, V]."""
    engine = RecordingEngine(decoder, max_batch=1, max_step_tokens=4096, prefix_caching=False)
    sequence = engine.submit(token_ids, 0)
    engine.run_to_end()
    rows = engine.rows[sequence.number]
    return torch.stack([rows[position] for position in range(len(token_ids))])
