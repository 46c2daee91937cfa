"""Distinct answers: stored once per canary, found again by the hash of their raw text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from drift.answers import COMPARABLE, Answer, Decoded
from drift.display import visible
from drift.measure.agreement import whitespace_normalised
from drift.models import Output


def comparable(decoded: Decoded) -> bool:
    """Whether the answer may be compared with others."""
    return decoded.outcome in COMPARABLE


def output_digest(decoded: Decoded) -> bytes:
    """SHA-256 of the raw compared value."""
    return hashlib.sha256(decoded.compared.encode("utf-8", "surrogatepass")).digest()


def store_outputs(answers: Sequence[Answer]) -> dict[tuple[int, bytes], int]:
    """Output ids by (canary, digest); new distinct answers are stored."""
    fresh: dict[tuple[int, bytes], Output] = {}
    for answer in answers:
        decoded = answer.decoded
        if not comparable(decoded):
            continue
        key = (answer.canary_id, output_digest(decoded))
        known = fresh.get(key)
        if known is None or (known.token_bytes is None and decoded.tokens):
            fresh[key] = _new_output(answer)
    Output.objects.bulk_create(fresh.values(), ignore_conflicts=True)
    rows = Output.objects.filter(
        canary_id__in={canary for canary, _ in fresh}, digest__in={digest for _, digest in fresh}
    ).values_list("canary_id", "digest", "id")
    return {(canary, bytes(digest)): pk for canary, digest, pk in rows}


def _new_output(answer: Answer) -> Output:
    decoded = answer.decoded
    normalised = whitespace_normalised(decoded.compared)
    output = Output(
        canary_id=answer.canary_id,
        digest=output_digest(decoded),
        whitespace_digest=hashlib.sha256(normalised.encode("utf-8", "surrogatepass")).digest(),
        text=visible(decoded.compared.replace("\x1e", "\n")),
        first_seen=answer.exchange.started_at,
    )
    if decoded.tokens:
        pieces = [token.text for token in decoded.tokens]
        output.token_bytes = b"".join(pieces)
        output.token_ends = np.cumsum([len(piece) for piece in pieces]).tolist()
    return output
