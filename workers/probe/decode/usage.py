"""Token counts and cost, wherever a provider reports them. Nothing reported is None, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift.answers import Usage
from workers.probe.decode.fields import as_count, as_money, as_object


def read_usage(body: Mapping[str, Any]) -> Usage:
    """The usage in a whole answer or in a stream's folded chunks."""
    groq = as_object(as_object(body.get("x_groq")).get("usage"))
    usage = as_object(body.get("usage")) or groq
    prompt_details = as_object(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    completion_details = as_object(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    return Usage(
        prompt_tokens=_first(usage, "prompt_tokens", "input_tokens"),
        completion_tokens=_first(usage, "completion_tokens", "output_tokens"),
        reasoning_tokens=_known(_first(completion_details, "reasoning_tokens"), _first(usage, "reasoning_tokens")),
        cached_tokens=_known(
            _first(prompt_details, "cached_tokens"),
            _first(
                usage,
                "prompt_cache_hit_tokens",
                "num_cached_tokens",
                "cached_tokens",
                "cache_read_input_tokens",
            ),
            _sum(groq, "dram_cached_tokens", "sram_cached_tokens"),
        ),
        cost=as_money(usage.get("cost", usage.get("total_cost"))),
    )


def _first(source: Mapping[str, Any], *names: str) -> int | None:
    return _known(*(as_count(source.get(name)) for name in names))


def _known(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)


def _sum(source: Mapping[str, Any], *names: str) -> int | None:
    counts = [count for name in names if (count := as_count(source.get(name))) is not None]
    return sum(counts) if counts else None
