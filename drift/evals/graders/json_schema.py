"""The answer is JSON that satisfies a schema (draft 2020-12). Nothing is fetched; patterns are matched in bounds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext, gettext_noop
from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from drift.evals.case import Case
from drift.evals.errors import GraderError
from drift.evals.graders.bounded_regex import TooSlowError, search
from drift.evals.graders.grade import Grade, right_or_wrong
from drift.evals.graders.normalise import parsed_json
from drift.said import said

LARGEST_SCHEMA = 100_000


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and search(pattern, instance) is None:
        yield ValidationError(f"{instance[:80]!r} does not match {pattern!r}")


_Validator: Any = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """`schema`: the schema as JSON text or value; {} asks for JSON of any shape."""

    version: ClassVar[int] = 1
    schema: Mapping[str, Any] | str = "{}"

    def __post_init__(self) -> None:
        schema = self.parsed
        if _holds_key(schema, "patternProperties"):
            raise GraderError(gettext("json_schema: patternProperties is not supported; name the properties"))
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise GraderError(
                gettext("json_schema: the schema itself is wrong: {message}").format(message=error.message[:200])
            ) from error

    @property
    def parsed(self) -> Any:
        text = self.schema if isinstance(self.schema, str) else json.dumps(self.schema)
        if len(text) > LARGEST_SCHEMA:
            raise GraderError(
                gettext("json_schema: the schema is larger than {largest_schema} characters").format(
                    largest_schema=f"{LARGEST_SCHEMA:,}"
                )
            )
        schema, problem = parsed_json(text)
        if problem:
            raise GraderError(gettext("json_schema: the schema is {problem}").format(problem=problem))
        if not isinstance(schema, dict | bool):
            raise GraderError(gettext("json_schema: the schema must be an object"))
        return schema

    def grade(self, answer: str, case: Case) -> Grade:
        value, problem = parsed_json(answer)
        if problem:
            return right_or_wrong(False, "", problem)
        shown = json.dumps(value, ensure_ascii=False)[:500]
        try:
            error = next(iter(_Validator(self.parsed, registry=Registry()).iter_errors(value)), None)
        except TooSlowError as slow:
            return Grade(None, shown, str(slow))
        except (Unresolvable, RecursionError) as broken:
            return Grade(
                None, shown, said(gettext_noop("the schema cannot be followed: {name__}"), name__=type(broken).__name__)
            )
        if error is None:
            return right_or_wrong(True, shown)
        where = "/".join(str(part) for part in error.absolute_path)
        return right_or_wrong(False, shown, f"{where}: {error.message}"[:300] if where else error.message[:300])


def _holds_key(value: Any, key: str) -> bool:
    if isinstance(value, dict):
        return key in value or any(_holds_key(inner, key) for inner in value.values())
    return isinstance(value, list) and any(_holds_key(inner, key) for inner in value)
