"""Rules for what people and programs enter, whichever door it comes through."""

from __future__ import annotations

import math
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from drift.addresses import AddressError, AddressRule, read_base_url

DEEPEST = 20
SET_BY_US = frozenset(
    {"model", "messages", "input", "stream", "max_tokens", "max_completion_tokens", "max_output_tokens", "n"}
)


class EntryError(ValueError):
    """Something entered cannot be used; the message says why and what to enter instead."""


def text(value: str, *, most: int, least: int = 0, what: str) -> str:
    """The text without white space around it, if PostgreSQL can hold it and it is of a fair length."""
    stripped = value.strip()
    if "\x00" in stripped or any(0xD800 <= ord(character) <= 0xDFFF for character in stripped):
        raise EntryError(gettext("{what} contains a character that cannot be stored.").format(what=what))
    if not least <= len(stripped) <= most:
        wanted = f"between {least} and {most}" if least else f"at most {most}"
        raise EntryError(
            gettext("{what} must have {wanted} characters, not {stripped}.").format(
                what=what, wanted=wanted, stripped=len(stripped)
            )
        )
    return stripped


def base_url(value: str) -> str:
    """The endpoint's address, checked by the same rule that the prober applies to numbers and names."""
    try:
        address = read_base_url(text(value, most=500, least=1, what="base_url"))
        refusal = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS).refusal_of_literal(address)
    except AddressError as error:
        raise EntryError(str(error)) from error
    if refusal:
        raise EntryError(refusal)
    return address


def tags(values: list[str]) -> list[str]:
    """Each tag once, in the order given."""
    if len(values) > 50:
        raise EntryError(gettext("An endpoint has at most 50 tags."))
    kept = (text(value, most=40, what=gettext("A tag")) for value in values)
    return list(dict.fromkeys(tag for tag in kept if tag))


def parameters(value: dict[str, Any]) -> dict[str, Any]:
    """Request parameters that can be stored, without those that Tidegauge sets itself."""
    if clash := sorted(SET_BY_US & set(value)):
        raise EntryError(
            gettext("Leave {join} out of the parameters: Tidegauge sets it itself.").format(join=", ".join(clash))
        )
    storable(value, "parameters")
    return value


def messages(value: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Chat messages of a canary."""
    if not value or not all(isinstance(one, dict) and one.get("role") and "content" in one for one in value):
        raise EntryError(gettext("messages must be a list of objects with role and content, at least one."))
    storable(value, "messages")
    return value


def storable(value: Any, what: str, depth: int = 0) -> None:
    """Raises EntryError for JSON that a jsonb column cannot hold."""
    if depth > DEEPEST:
        raise EntryError(gettext("{what} is nested more than {deepest} deep.").format(what=what, deepest=DEEPEST))
    if isinstance(value, str):
        text(value, most=200_000, what=what)
    elif isinstance(value, float) and not math.isfinite(value):
        raise EntryError(gettext("{what} contains a number that JSON cannot hold.").format(what=what))
    elif isinstance(value, int) and abs(value) > 10**30:
        raise EntryError(gettext("{what} contains a number that is too large.").format(what=what))
    elif isinstance(value, dict):
        for key, item in value.items():
            text(str(key), most=200, what=gettext("A name in {what}").format(what=what))
            storable(item, what, depth + 1)
    elif isinstance(value, list):
        for item in value:
            storable(item, what, depth + 1)
