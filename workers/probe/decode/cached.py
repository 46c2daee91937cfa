"""Headers by which a gateway admits that an answer came from its cache."""

from __future__ import annotations

from collections.abc import Mapping

_SAYS_HIT = (
    "cf-aig-cache-status",
    "cf-cache-status",
    "helicone-cache",
    "x-cache",
    "x-cache-status",
    "x-portkey-cache-status",
)


def cache_evidence(headers: Mapping[str, str]) -> str:
    """The header that gives a cached answer away, as `name: value`; '' when none does.

    Prompt caching by the provider is not this: there the answer is sampled afresh.
    """
    for name in _SAYS_HIT:
        value = headers.get(name, "")
        if "HIT" in value.upper().replace("-", " ").replace("_", " ").split():
            return f"{name}: {value}"
    if headers.get("x-litellm-cache-key") and headers.get("x-litellm-cache-hit", "").lower() != "false":
        return f"x-litellm-cache-key: {headers['x-litellm-cache-key']}"
    age = headers.get("age", "").strip()
    if age.isascii() and age.isdigit() and int(age[:9]) > 0:
        return f"age: {age}"
    return ""
