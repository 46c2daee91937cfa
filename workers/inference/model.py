"""A model ready to be served: decoder, tokenizer, vocabulary, fingerprint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jinja2 import TemplateError

from workers.inference.checkpoints.checkpoint import Checkpoint
from workers.inference.errors import InvalidRequestError
from workers.inference.fingerprint import fingerprint
from workers.inference.models.decoder import Decoder
from workers.inference.operators.operators import operators_for
from workers.inference.text import Vocabulary

DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}


@dataclass(frozen=True, slots=True)
class Model:
    """What the server needs of a model."""

    name: str
    decoder: Decoder
    tokenizer: Any
    vocabulary: Vocabulary
    fingerprint: str
    threads: int

    def encode(self, text: str, *, special: bool = True) -> list[int]:
        """Token ids of a text; ``special`` adds what the tokenizer puts around a plain prompt."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=special)
        return ids

    def encode_chat(self, messages: list[dict[str, Any]]) -> list[int]:
        """Token ids of a conversation in the model's chat template, up to where the assistant speaks.

        Raises:
            InvalidRequestError: the model has no template, or one that does not take these roles in this order.
        """
        try:
            text = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        except (ValueError, TemplateError) as error:
            raise InvalidRequestError(
                f"The model's chat template refuses these messages: {error}.", "messages"
            ) from None
        return self.encode(text, special=False)


def build_model(
    checkpoint: Checkpoint, *, mode: str, dtype: str = "bf16", threads: int = 1, device: torch.device | None = None
) -> Model:
    """Make a checkpoint ready for ``mode``. Sets torch's thread count, which is part of the numerics."""
    from transformers import AutoTokenizer

    torch.set_num_threads(threads)
    device = device or torch.device("cpu")
    tokenizer = AutoTokenizer.from_pretrained(**checkpoint.tokenizer)
    return Model(
        name=checkpoint.name,
        decoder=Decoder(checkpoint.config, checkpoint.weights, operators_for(mode), DTYPES[dtype], device),
        tokenizer=tokenizer,
        vocabulary=Vocabulary(tokenizer),
        fingerprint=fingerprint(checkpoint.weights, dtype=DTYPES[dtype], mode=mode, threads=threads, device=device),
        threads=threads,
    )
