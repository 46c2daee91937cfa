"""Safe renderings of text that came from outside. Comparison and hashing use the raw text, never this."""

from __future__ import annotations

from typing import Any


def visible(text: str) -> str:
    """NUL, other control characters and lone surrogates as visible escapes; newlines and tabs stay.

    What comes back can be stored in PostgreSQL and shown on a page.
    """
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    code = ord(character)
    if character in "\n\t":
        return character
    if code < 0x20 or code == 0x7F:
        return chr(0x2400 + code) if code < 0x20 else "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    if 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:  # would reorder the page around it
        return f"\\u{code:04x}"
    return character


def visible_json(value: Any) -> Any:
    """The same for every string and key of a JSON value; non-finite numbers become their names."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): visible_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [visible_json(item) for item in value]
    if isinstance(value, float) and not (value == value and abs(value) != float("inf")):
        return str(value)
    return value
