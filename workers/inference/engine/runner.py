"""Turns chunks into a batch of tensors and a batch into logits."""

from __future__ import annotations

from collections.abc import Sequence as Items

import numpy as np
import torch

from kernels.attention_plan import Segment
from workers.inference.engine.scheduler import Chunk
from workers.inference.models.decoder import Batch, Decoder, PagedCache


class Runner:
    """The decoder with its cache."""

    def __init__(self, decoder: Decoder, pages: int, page_size: int) -> None:
        self.decoder = decoder
        self.page_size = page_size
        self.cache = PagedCache(decoder.config, pages, page_size, decoder.dtype, decoder.device)

    def run(self, chunks: Items[Chunk], wanted: Items[int]) -> torch.Tensor:
        """Compute a step.

        Args:
            wanted: rows of the flat batch whose logits are needed.

        Returns:
            float32 [len(wanted), vocabulary].
        """
        return self.decoder.forward(self.prepare(chunks, wanted), self.cache)

    def prepare(self, chunks: Items[Chunk], wanted: Items[int]) -> Batch:
        """The step's tensors."""
        device = self.decoder.device
        rows = sum(chunk.count for chunk in chunks)
        ids, positions, slots = (np.zeros(rows, dtype=np.int64) for _ in range(3))
        row = 0
        for chunk in chunks:
            part = slice(row, row + chunk.count)
            place = np.arange(chunk.start, chunk.start + chunk.count)
            ids[part] = chunk.sequence.token_ids[chunk.start : chunk.start + chunk.count]
            positions[part] = place
            pages = np.asarray(chunk.sequence.pages)
            slots[part] = pages[place // self.page_size] * self.page_size + place % self.page_size
            row += chunk.count
        logit_rows = np.asarray(wanted, dtype=np.int64)
        config = self.decoder.config
        segments = [Segment(chunk.sequence.pages, chunk.start, chunk.count) for chunk in chunks]
        plan = self.decoder.ops.plan(
            segments, self.page_size, config.heads // config.kv_heads, config.head_width, self.decoder.dtype, device
        )
        id_row, position_row, slot_row, wanted_row = (
            torch.from_numpy(part).to(device) for part in (ids, positions, slots, logit_rows)
        )
        return Batch(id_row, position_row, slot_row, wanted_row, plan)
