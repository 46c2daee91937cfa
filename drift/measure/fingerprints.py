"""Fingerprints that say something: those of servers which write their version or deployment into it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A fingerprint taken apart. `server` is '' for an opaque value; `parts` are (label, value) in reading order.

    `moves_with`: what a change of it does tell, in words for a person; '' where it tells nothing.
    """

    server: str
    parts: tuple[tuple[str, str], ...] = field(default=())
    moves_with: str = ""


_VLLM = re.compile(
    r"vllm-(?P<version>\d[\w.+]*)"
    r"(?:-(?P<layout>(?:tp|pp|dp|ep)\d*(?:-(?:tp|pp|dp|ep)\d*)*))?"
    r"-(?P<configuration>[0-9a-f]{8})"
)
_VLLM_HASH = re.compile(r"vllm-(?P<configuration>[0-9a-f]{8})")
_DEEPSEEK = re.compile(
    r"fp_(?P<build>[0-9a-f]{10})_prod(?P<deployed>\d{4})(?:_(?P<cache>fp\d+)_kvcache(?:_(?P<cache_date>\d{8}))?)?"
)
_LLAMA_CPP = re.compile(r"b(?P<build>\d+)-(?P<commit>[0-9a-f]{7,})")
_TGI = re.compile(r"(?P<version>\d+\.\d+\.\d+(?:-dev\d*)?)-(?P<label>native|sha-[0-9a-f]+)")

_KNOWN = (
    ("vLLM", _VLLM, "version, parallel layout or configuration of the server"),
    ("vLLM", _VLLM_HASH, "configuration of the server"),
    ("DeepSeek", _DEEPSEEK, "deployment and precision of the key-value cache"),
    ("llama.cpp", _LLAMA_CPP, "the server's binary, not the model file"),
    ("Text Generation Inference", _TGI, "version of the server"),
)


def read(fingerprint: str) -> Fingerprint:
    """What a `system_fingerprint` says. An operator can pin most of them, so an equal one proves nothing."""
    if fingerprint == "fp_ollama":
        return Fingerprint("Ollama")
    for server, pattern, moves_with in _KNOWN:
        if match := pattern.fullmatch(fingerprint):
            parts = tuple(
                (label.replace("_", " "), value) for label, value in match.groupdict().items() if value is not None
            )
            return Fingerprint(server, parts, moves_with)
    return Fingerprint("")
