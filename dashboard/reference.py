"""The API's description as a page can show it: operations by subject, each with its fields, answers and examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.text import slugify

DEEPEST = 4
MADE_UP = {"uuid": "3f0d6c8e-8a41-4b1c-9a67-2f1e0a0c5d11", "date-time": "2026-11-29T14:05:00Z", "binary": "(a file)"}

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter, or one field of a body. `shape`: the named shape that it leads to; '' for none."""

    name: str
    kind: str
    shape: str
    required: bool
    about: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    about: str
    fields: tuple[Field, ...]

    @property
    def anchor(self) -> str:
        return f"shape-{self.name}"


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    about: str
    kind: str
    shape: str
    example: str


@dataclass(frozen=True, slots=True)
class Operation:
    """`call`: the request as a command."""

    anchor: str
    method: str
    path: str
    summary: str
    about: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    call: str
    answers: tuple[Answer, ...]
    refusals: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    name: str
    operations: tuple[Operation, ...]

    @property
    def anchor(self) -> str:
        return slugify(self.name)


@dataclass(frozen=True, slots=True)
class Reference:
    about: str
    subjects: tuple[Subject, ...]
    shapes: tuple[Shape, ...]


@cache
def reference() -> Reference:
    """Made once: the description does not change while the service runs."""
    from dashboard.api.api import api

    return read(json.loads(json.dumps(api.get_openapi_schema(), default=str)))


def read(schema: Schema) -> Reference:
    shapes = schema["components"]["schemas"]
    subjects: dict[str, list[Operation]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            subject = (operation.get("tags") or ["Other"])[0]
            subjects.setdefault(subject, []).append(_operation(path, method, operation, shapes))
    return Reference(
        about=schema["info"]["description"],
        subjects=tuple(Subject(name, tuple(operations)) for name, operations in subjects.items()),
        shapes=tuple(
            Shape(name, shape.get("description", ""), _fields(shape, shapes))
            for name, shape in sorted(shapes.items())
            if shape.get("properties")
        ),
    )


def _operation(path: str, method: str, operation: Schema, shapes: Schema) -> Operation:
    bodies = operation.get("requestBody", {}).get("content", {})
    kind = next(iter(bodies), "")
    body: Schema = bodies[kind].get("schema", {}) if kind else {}
    answers = [_answer(status, told, shapes) for status, told in operation["responses"].items()]
    return Operation(
        anchor=slugify(f"{method} {path.removeprefix('/api/v1').replace('/', ' ')}"),
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        about=operation.get("description", ""),
        parameters=tuple(_parameter(one, shapes) for one in operation.get("parameters", ())),
        body=_fields(body, shapes),
        call=_call(path, method, kind, body, shapes),
        answers=tuple(one for one in answers if one.status < "300"),
        refusals=tuple(one for one in answers if one.status >= "300"),
    )


def _parameter(one: Schema, shapes: Schema) -> Field:
    schema = one.get("schema", {})
    about = one.get("description") or schema.get("description", "")
    return Field(
        one["name"], kind_of(schema, shapes), _shape_of(schema, shapes), one.get("required", False), about, one["in"]
    )


def _fields(schema: Schema, shapes: Schema) -> tuple[Field, ...]:
    whole = _resolved(schema, shapes)
    needed = set(whole.get("required", ()))
    return tuple(
        Field(name, kind_of(one, shapes), _shape_of(one, shapes), name in needed, _about(one))
        for name, one in whole.get("properties", {}).items()
    )


def _about(schema: Schema) -> str:
    default = schema.get("default")
    told = [schema.get("description", "")]
    if default not in (None, "", [], {}):
        told.append(f"Left out: {json.dumps(default, ensure_ascii=False)}")
    return ". ".join(part.rstrip(".") for part in told if part)


def _answer(status: str | int, told: Schema, shapes: Schema) -> Answer:
    schema: Schema = next((one.get("schema", {}) for one in told.get("content", {}).values()), {})
    status = str(status)
    example = _json(example_of(schema, shapes)) if schema and status < "300" else ""
    return Answer(
        status,
        told.get("description", ""),
        kind_of(schema, shapes) if schema else "",
        _shape_of(schema, shapes),
        example,
    )


def _call(path: str, method: str, kind: str, body: Schema, shapes: Schema) -> str:
    lines = [f'curl -X {method.upper()} "$TIDEGAUGE_URL{path}"', '-H "Authorization: Bearer $TIDEGAUGE_TOKEN"']
    if kind == "multipart/form-data":
        lines += [f"-F {name}=@{name}.jsonl" for name in _resolved(body, shapes).get("properties", {})]
    elif kind:
        lines += [f'-H "Content-Type: {kind}"', f"-d '{_json(example_of(body, shapes))}'"]
    return " \\\n  ".join(lines)


def example_of(schema: Schema, shapes: Schema, depth: int = 0) -> Any:
    """The schema's own example, else a value made up by its types."""
    schema = _resolved(schema, shapes)
    if schema.get("examples"):
        return schema["examples"][0]
    if "default" in schema and schema["default"] not in (None, {}, [], ""):
        return schema["default"]
    for union in ("anyOf", "oneOf", "allOf"):
        if schema.get(union):
            return example_of(schema[union][0], shapes, depth)
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("properties"):
        if depth >= DEEPEST:
            return {}
        return {name: example_of(one, shapes, depth + 1) for name, one in schema["properties"].items()}
    if schema.get("type") == "array":
        return [] if depth >= DEEPEST else [example_of(schema.get("items", {}), shapes, depth + 1)]
    if schema.get("format") in MADE_UP:
        return MADE_UP[schema["format"]]
    return {"string": "text", "integer": 1, "number": 0.5, "boolean": True}.get(schema.get("type", ""), {})


def kind_of(schema: Schema, shapes: Schema) -> str:
    """'text', 'whole number', 'list of RunOut', 'text or null' ..."""
    if "$ref" in schema:
        named = _resolved(schema, shapes)
        return _name(schema) if "properties" in named else kind_of(named, shapes)
    for union in ("anyOf", "oneOf", "allOf"):
        if schema.get(union):
            return " or ".join(dict.fromkeys(kind_of(one, shapes) for one in schema[union]))
    if "enum" in schema:
        return " or ".join(json.dumps(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {kind_of(schema.get('items', {}), shapes)}"
    if kind == "object":
        return "object"
    if kind == "string" and schema.get("format") in ("uuid", "date-time", "binary"):
        return {"uuid": "id", "date-time": "time", "binary": "file"}[schema["format"]]
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    limits = "".join(_limits(schema))
    return f"{words.get(kind, 'null' if kind == 'null' else 'any value')}{limits}"


def _limits(schema: Schema) -> Iterator[str]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        yield f", {low:,} to {high:,}"
    elif low is not None:
        yield f", from {low:,}"
    elif high is not None:
        yield f", up to {high:,}"
    if "maxLength" in schema:
        yield f", at most {schema['maxLength']:,} characters"


def _shape_of(schema: Schema, shapes: Schema) -> str:
    """The first named shape with fields inside."""
    if "$ref" in schema:
        return _name(schema) if "properties" in _resolved(schema, shapes) else ""
    inner: Sequence[Schema] = [
        *schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ()),
        *([schema["items"]] if isinstance(schema.get("items"), Mapping) else []),
    ]  # fmt: skip
    return next((found for one in inner if (found := _shape_of(one, shapes))), "")


def _resolved(schema: Schema, shapes: Schema) -> Schema:
    while "$ref" in schema:
        schema = shapes.get(_name(schema), {})
    return schema


def _name(schema: Schema) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
