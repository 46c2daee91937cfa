"""What a check-up asks when nothing else is chosen: kinds of answer that part early, late or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from drift.provision import CANARIES

MORE = (
    ("Opinion", "Should a small harbour town build a tide wall? Argue both sides, then decide."),
    ("Rewrite", "Rewrite as a polite e-mail: the report is late again and nobody told me why."),
    ("Steps", "Explain in numbered steps how to set a marine chronometer."),
    ("Table", "Compare spring tides and neap tides in a Markdown table with four rows."),
)

BEGINNINGS = (
    "Once upon a time there was a lighthouse keeper who measured the sea every day, because",
    "The history of tide gauges begins in the harbours of Europe, where the first",
    "Here is a long list of things that can be found on a beach at low tide: shells, seaweed,",
    "In the following chapter we explain, step by step, how the moon moves the water. First,",
)  # a plain continuation of a question may end at once; of these it goes on


@dataclass(frozen=True, slots=True)
class Question:
    """`key` names it within its check-up."""

    key: str
    name: str
    messages: tuple[Mapping[str, Any], ...]


def default_questions() -> tuple[Question, ...]:
    """Twelve questions, the default suite's first."""
    texts = [(name, prompt) for name, prompt, _ in CANARIES] + list(MORE)
    return tuple(Question(f"q{i + 1}", name, (_user(prompt),)) for i, (name, prompt) in enumerate(texts))


def beginnings() -> tuple[Question, ...]:
    """Texts to be continued, for endpoints that score what they have written."""
    return tuple(Question(f"b{i + 1}", f"Continuation {i + 1}", (_user(text),)) for i, text in enumerate(BEGINNINGS))


def prefix_questions(questions: Sequence[Question], count: int, words: int, mark: str) -> tuple[Question, ...]:
    """Questions behind a long beginning that nobody has sent before: `words` words that follow from `mark`.

    A provider caches long prefixes only (OpenAI from 1,024 tokens on), and only a fresh one is cold for certain.
    """
    made = []
    for i in range(count):
        beginning = f"Reference {_word(mark, i, -1)}. Ignore this log: " + " ".join(
            _word(mark, i, j) for j in range(words)
        )
        asked = questions[i % len(questions)]
        messages = ({"role": "system", "content": beginning}, *asked.messages)
        made.append(Question(f"p{i + 1}", f"{asked.name}, fresh prefix {i + 1}", messages))
    return tuple(made)


_SYLLABLES = ("tide", "mark", "bell", "rope", "sand", "gull", "keel", "mast", "reef", "fog", "pier", "buoy", "cove",
              "wave", "salt", "wind")  # fmt: skip


def _word(mark: str, question: int, place: int) -> str:
    digest = blake2b(f"{mark}/{question}/{place}".encode(), digest_size=2).digest()
    return f"{_SYLLABLES[digest[0] % 16]}{digest[1] % 100}"


def _user(prompt: str) -> dict[str, str]:
    return {"role": "user", "content": prompt}
