"""The decoder against everything: it never raises, loses no bytes, and its cost grows with the body and no faster."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drift.answers import COMPARABLE, Decoded, Exchange, Outcome, Transport
from tests.workers.probe.loopback import completion
from workers.probe.decode import VERSION, decode
from workers.probe.decode.body import as_string
from workers.probe.decode.stream import events, fold

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def read(body: bytes, status: int | None = 200, headers: tuple[tuple[str, str], ...] = ()) -> Decoded:
    decoded = decode(Exchange(b"{}", Transport.WHOLE, NOW, 1.0, status=status, body=body, headers=headers))
    assert decoded.version == VERSION
    assert decoded.error_code != "decoder", "the last line of defence must never be needed"
    pickle.dumps(decoded)
    return decoded


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.sampled_from(["stop", "length", ""])
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = """id object created model system_fingerprint choices usage error detail message provider output status type
content text reasoning reasoning_content reasoning_details thinking tool_calls function name arguments function_call
refusal logprobs tokens token_logprobs top_logprobs token logprob bytes finish_reason index delta seed x_groq tidegauge
batch_sizes prompt_tokens completion_tokens prompt_tokens_details cached_tokens prompt_filter_results code param loc msg
""".split()  # noqa: SIM905
shaped = st.recursive(
    anything,
    lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=8) | st.lists(inner, max_size=4),
    max_leaves=40,
)


@given(st.binary(max_size=2000), st.sampled_from([200, 200, 204, 301, 400, 429, 500, None]))
@settings(max_examples=300, deadline=None)
def test_no_bytes_make_it_raise(body: bytes, status: int | None) -> None:
    read(body, status)


@given(shaped)
@settings(max_examples=200, deadline=None)
def test_no_json_makes_it_raise(document: Any) -> None:
    read(json.dumps(document).encode("utf-8", "surrogatepass"))


@given(shaped, shaped, shaped)
@settings(max_examples=120, deadline=None)
def test_no_answer_with_strange_parts_makes_it_raise(choice: Any, message: Any, extra: Any) -> None:
    choices = [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": extra}, choice]
    read(json.dumps({"choices": choices, "usage": extra, "x_groq": extra, "model": message}).encode())
    read(json.dumps({"choices": [choice], "error": extra}).encode())
    read(json.dumps({"object": "response", "output": [message, choice], "usage": extra, "status": extra}).encode())


@given(st.lists(shaped, max_size=6), st.booleans(), st.sampled_from(["\n", "\r\n", "\r"]))
@settings(max_examples=100, deadline=None)
def test_no_stream_makes_it_raise(chunks: list[Any], done: bool, newline: str) -> None:
    lines = [f"data: {json.dumps(chunk)}{newline}{newline}" for chunk in chunks] + ["data: [DONE]\n\n"] * done
    read(("data: " + "".join(lines)).encode())


@given(
    st.lists(
        st.sampled_from(
            ["data: ", "data:{", "}", "\n", "\n\n", ":", "event: error", "[DONE]", '"', "id: 1", "\r", "choices"]
        )
    )
)
@settings(max_examples=300, deadline=None)
def test_no_broken_event_syntax_makes_it_raise(pieces: list[str]) -> None:
    read("".join(["data:", *pieces]).encode())
    list(events("".join(pieces)))


@given(
    st.dictionaries(
        st.sampled_from(["age", "x-cache", "x-litellm-attempted-fallbacks", "x-groq-region", "x-ms-is-spilled-over"]),
        st.text(max_size=30),
    )
)
def test_no_header_makes_it_raise(headers: dict[str, str]) -> None:
    read(json.dumps(completion("Hello.")).encode(), headers=tuple(headers.items()))


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_a_text_arrives_exactly_as_it_was_sent(text: str) -> None:
    for escape in (True, False):
        body = json.dumps(completion(text), ensure_ascii=escape).encode("utf-8", "surrogatepass")
        decoded = read(body)
        if "</think>" not in text and not text.lstrip().startswith("<think>"):
            assert (
                decoded.text == text
                if escape
                else decoded.text.encode("utf-8", "surrogateescape") == text.encode("utf-8", "surrogatepass")
            )
        assert (decoded.outcome in COMPARABLE) == bool(decoded.text.strip())


@given(st.text(min_size=1), st.data())
@settings(max_examples=200, deadline=None)
def test_a_stream_loses_nothing_however_it_is_cut(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    folded = fold(body)
    assert folded.complete
    assert folded.body["choices"][0]["message"]["content"] == text


@given(st.binary(max_size=500))
def test_bytes_that_are_not_utf8_are_kept_apart(raw: bytes) -> None:
    if b"\0" not in raw[:4] and raw[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        assert as_string(raw).encode("utf-8", "surrogateescape") == raw


def test_invalid_utf8_in_an_answer_costs_neither_the_answer_nor_the_difference() -> None:
    one = read(b'{"choices":[{"index":0,"message":{"content":"a\xff"},"finish_reason":"stop"}]}')
    other = read(b'{"choices":[{"index":0,"message":{"content":"a\xfe"},"finish_reason":"stop"}]}')
    assert (one.outcome, other.outcome) == (Outcome.TEXT, Outcome.TEXT)
    assert one.text != other.text


def long_text(size: int) -> bytes:
    return json.dumps(completion("tide </th " * (size // 10))).encode()


def many_tokens(size: int) -> bytes:
    entry = {"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": []}
    choice = {
        "index": 0,
        "message": {"content": "a", "reasoning": "b"},
        "finish_reason": "stop",
        "logprobs": {"content": [entry] * (size // 70)},
    }
    return json.dumps({"choices": [choice]}).encode()


def many_chunks(size: int) -> bytes:
    chunk = json.dumps(
        {
            "choices": [
                {"index": 0, "delta": {"content": "a", "tool_calls": [{"id": "x", "function": {"arguments": "b"}}]}}
            ]
        }
    )
    return f"data: {chunk}\n\n".encode() * (size // len(chunk))


def one_event_of_many_lines(size: int) -> bytes:
    return b"data: " + b"data: x\n" * (size // 8)


def brackets(size: int) -> bytes:
    return b"[" * size


def html(size: int) -> bytes:
    return b"<html><title" + b" <title" * (size // 7)


def error_of_keys(size: int) -> bytes:
    return json.dumps({"error": {"message": "sk-" * (size // 3)}}).encode()


def digits(size: int) -> bytes:
    return b'{"choices":' + b"9" * size + b"}"


def legacy(size: int) -> bytes:
    choice = {
        "message": {"content": "a"},
        "logprobs": {"tokens": ["a"] * (size // 10), "token_logprobs": [-1.0] * (size // 10)},
    }
    return json.dumps({"choices": [choice]}).encode()


@pytest.mark.parametrize(
    "shape",
    [long_text, many_tokens, many_chunks, one_event_of_many_lines, brackets, html, error_of_keys, digits, legacy],
)
def test_cost_grows_no_faster_than_the_body(shape: Callable[[int], bytes]) -> None:
    """Eight times the body may cost twenty times the time (quadratic would be 64), best of three."""

    def cost(size: int) -> float:
        body, best = shape(size), float("inf")
        for _ in range(3):
            began = time.process_time()
            read(body)
            best = min(best, time.process_time() - began)
        return best

    small, large = cost(100_000), cost(800_000)
    assert large < 20 * small + 0.005, f"{shape.__name__}: {small * 1000:.1f} ms -> {large * 1000:.1f} ms"
