"""Reads a provider's error out of the envelopes they come in.

OpenAI: `{"error": {"message", "type", "param", "code"}}`. FastAPI: `{"detail": [{"type", "loc", "msg"}]}` or
a string. Google: `[{"error": {...}}]`. Plain: `{"error": "text"}`, `{"message": "..."}`, `{"errors": [...]}`,
or just text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workers.probe.decode.body import Body, BodyKind, page_title
from workers.probe.decode.fields import as_list, as_object
from workers.probe.redact import redact


@dataclass(frozen=True, slots=True)
class ProviderError:
    """`code` is the most telling short code given; `fields` are the request fields it names, as written."""

    message: str
    code: str = ""
    kind: str = ""
    fields: tuple[str, ...] = ()

    @property
    def is_content_filter(self) -> bool:
        return "content_filter" in (self.code, self.kind) or "ResponsibleAIPolicyViolation" in (
            self.code,
            self.kind,
        )


def error_in(document: Any) -> ProviderError | None:
    """The error that a parsed answer carries, None when it carries none."""
    if isinstance(document, list):
        # Google wraps the object in an array; an array of answers is not an error.
        return next((found for item in document[:4] if (found := error_in(item)) is not None), None)
    body = as_object(document)
    error = body.get("error")
    if error:
        return _from_value(error, body)
    if body.get("object") == "error" or body.get("type") == "error":
        return _from_value(body, body)
    if "choices" in body or "output" in body:
        return None
    if body.get("detail"):
        return _from_detail(body["detail"])
    if as_list(body.get("errors")):
        return _from_value(body["errors"][0], body)
    if isinstance(body.get("message"), str) and "id" not in body:
        return _from_value(body, body)
    return None


def error_of_body(body: Body) -> ProviderError:
    """The error that a failed answer's body tells of, whatever its form."""
    if body.kind is BodyKind.JSON:
        found = error_in(body.document)
        if found is not None:
            return found
        if isinstance(body.document, str):
            return ProviderError(redact(body.document))
    if body.kind is BodyKind.HTML:
        title = page_title(body.text)
        return ProviderError(redact(f"An HTML page: {title}" if title else "An HTML page without a title."), "html")
    if body.kind is BodyKind.EMPTY:
        return ProviderError("An empty body.")
    return ProviderError(redact(body.text))


def _from_value(error: Any, around: Any) -> ProviderError:
    if isinstance(error, str):
        return ProviderError(redact(error), _short(around.get("code")), _short(around.get("error_type")))
    inner = as_object(error)
    if not inner:
        return ProviderError(redact(str(error)))
    details = as_object(inner.get("metadata"))
    message = inner.get("message") or inner.get("msg") or inner.get("detail") or inner.get("reason") or ""
    if not isinstance(message, str):
        nested = _from_detail(message)
        return ProviderError(nested.message, _short(inner.get("code")), _short(inner.get("type")), nested.fields)
    # OpenRouter puts what the upstream said into `metadata.raw`.
    raw = details.get("raw")
    if isinstance(raw, str) and raw and raw not in message:
        message = f"{message}: {raw}"
    fields = (inner["param"],) if isinstance(inner.get("param"), str) else ()
    inner_code = as_object(inner.get("innererror") or inner.get("inner_error")).get("code")
    code = _short(inner.get("code")) or _short(inner.get("status")) or _short(inner_code)
    if "content_filter" not in code and isinstance(inner_code, str) and "Policy" in inner_code:
        code = inner_code
    return ProviderError(redact(message), code, _short(inner.get("type")), fields)


def _from_detail(detail: Any) -> ProviderError:
    """FastAPI's `detail`: a string, an object, or a list of validation problems with a `loc` path."""
    if isinstance(detail, str):
        return ProviderError(redact(detail))
    if isinstance(detail, dict) and "loc" not in detail:
        return _from_value(detail.get("error") or detail, detail)
    problems = [as_object(item) for item in as_list(detail)[:20]] or [as_object(detail)]
    fields: list[str] = []
    said: list[str] = []
    for problem in problems:
        path = [part for part in as_list(problem.get("loc")) if isinstance(part, str)]
        if path:
            fields.append(path[1] if len(path) > 1 and path[0] == "body" else path[-1])
        said.append(": ".join(filter(None, [".".join(path), str(problem.get("msg") or "")])))
    return ProviderError(
        redact("; ".join(filter(None, said)) or str(detail)),
        "",
        _short(problems[0].get("type")),
        tuple(fields),
    )


def _short(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return ""
    return redact(str(value))[:100]
