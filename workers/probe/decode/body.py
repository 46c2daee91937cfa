"""Bytes of a response body -> what kind of document they are, parsed."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class BodyKind(StrEnum):
    JSON = "json"
    EVENTS = "events"  # server-sent events
    EMPTY = "empty"  # nothing, or only blank keep-alive lines
    HTML = "html"
    TEXT = "text"  # neither JSON nor HTML


@dataclass(frozen=True, slots=True)
class Body:
    """`document` is the parsed JSON where `kind` is JSON, else None; `text` is the body as a string."""

    kind: BodyKind
    text: str = ""
    document: Any = None


_BOM = "\ufeff"
# A field name of an event stream, at the start of the body.
_EVENT_START = re.compile(r"(?::|(?:data|event|id|retry)\s{0,4}:)")
_HTML_START = re.compile(r"<(?:!doctype|html|head|body|\?xml|h1|center|!--)", re.IGNORECASE)
_TITLE = re.compile(r"<(title|h1)[^>]{0,200}>([^<]{1,300})", re.IGNORECASE)
_BLANK = " \t\r\n"

# `strict=False` admits raw control characters inside strings, which several servers send.
_DECODER = json.JSONDecoder(strict=False)


def read_body(raw: bytes) -> Body:
    """What the bytes are, judged by their content: labels are often wrong. Cost: linear."""
    text = as_string(raw).lstrip(_BOM + _BLANK)
    if not text:
        return Body(BodyKind.EMPTY)
    if _EVENT_START.match(text):
        return Body(BodyKind.EVENTS, text)
    try:
        document, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return Body(BodyKind.HTML if _HTML_START.match(text) else BodyKind.TEXT, text)
    if text[end:].strip(_BLANK + "\0"):
        return Body(BodyKind.TEXT, text)
    return Body(BodyKind.JSON, text, document)


def as_string(raw: bytes) -> str:
    """`raw` as text with nothing lost: a byte that is not UTF-8 becomes the lone surrogate that stands for
    it.
    """
    encoding = json.detect_encoding(raw[:4]) if b"\0" in raw[:4] or raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    if encoding.startswith("utf-8"):
        return raw.decode("utf-8", "surrogateescape")
    try:
        return raw.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape")


def page_title(html: str) -> str:
    """The title or first heading of an HTML page, '' if it has none."""
    found = _TITLE.search(html[:20_000])
    return " ".join(found.group(2).split()) if found else ""
