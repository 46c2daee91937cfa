"""The messages of OTLP traces that are needed, read from protobuf's wire format. Unknown fields are passed over.

Field numbers: opentelemetry-proto, trace/v1 and common/v1, stable since 1.0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
DEEPEST = 16


class WireError(ValueError):
    """Bytes that are not a protobuf message of the expected kind."""


def export_request(data: bytes) -> dict[str, Any]:
    """ExportTraceServiceRequest in the shape of OTLP's JSON."""
    view = memoryview(data)
    return {"resourceSpans": [_resource_spans(part) for part in _messages(view, 1)]}


def _resource_spans(view: memoryview) -> dict[str, Any]:
    attributes = [_key_value(one) for resource in _messages(view, 1) for one in _messages(resource, 1)]
    return {"resource": {"attributes": attributes}, "scopeSpans": [_scope_spans(part) for part in _messages(view, 2)]}


def _scope_spans(view: memoryview) -> dict[str, Any]:
    return {"spans": [_span(part) for part in _messages(view, 2)]}


def _span(view: memoryview) -> dict[str, Any]:
    span: dict[str, Any] = {"attributes": []}
    for number, kind, value in _fields(view):
        if number == 7 and kind == FIXED64:
            span["startTimeUnixNano"] = value
        elif number == 8 and kind == FIXED64:
            span["endTimeUnixNano"] = value
        elif number == 9 and kind == LENGTH:
            span["attributes"].append(_key_value(value))
    return span


def _key_value(view: memoryview) -> dict[str, Any]:
    key, value = "", {}
    for number, kind, raw in _fields(view):
        if number == 1 and kind == LENGTH:
            key = _text(raw)
        elif number == 2 and kind == LENGTH:
            value = _any_value(raw, 0)
    return {"key": key, "value": value}


def _any_value(view: memoryview, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise WireError("values are nested too deep")
    for number, kind, raw in _fields(view):
        if number == 1 and kind == LENGTH:
            return {"stringValue": _text(raw)}
        if number == 2 and kind == VARINT:
            return {"boolValue": bool(raw)}
        if number == 3 and kind == VARINT:
            return {"intValue": raw - (1 << 64) if raw >> 63 else raw}
        if number == 4 and kind == FIXED64:
            return {"doubleValue": struct.unpack("<d", struct.pack("<Q", raw))[0]}
        if number == 5 and kind == LENGTH:
            return {"arrayValue": {"values": [_any_value(one, depth + 1) for one in _messages(raw, 1)]}}
    return {}


def _messages(view: memoryview, wanted: int) -> Iterator[memoryview]:
    for number, kind, value in _fields(view):
        if number == wanted and kind == LENGTH:
            yield value


def _fields(view: memoryview) -> Iterator[tuple[int, int, Any]]:
    """(field number, wire type, value): an int, or the bytes of a length-delimited field."""
    at, end = 0, len(view)
    while at < end:
        key, at = _varint(view, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = _varint(view, at)
            yield number, kind, value
            continue
        if kind == LENGTH:
            size, at = _varint(view, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise WireError(f"wire type {kind} is not used by OTLP")
        if at + size > end:
            raise WireError("the message ends in the middle of a field")
        part = view[at : at + size]
        yield number, kind, part if kind == LENGTH else int.from_bytes(part, "little")
        at += size


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(view):
            raise WireError("the message ends in the middle of a number")
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
    raise WireError("a number is longer than 64 bits")


def _text(view: memoryview) -> str:
    return bytes(view).decode("utf-8", "replace")
