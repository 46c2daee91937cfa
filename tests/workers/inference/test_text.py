"""Tokens to text and stop strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from workers.inference.text import TextStream, Vocabulary


@pytest.fixture(scope="module")
def tokenizer(bundled):
    return AutoTokenizer.from_pretrained(**bundled.tokenizer)


@pytest.fixture(scope="module")
def vocabulary(tokenizer) -> Vocabulary:
    return Vocabulary(tokenizer)


class Letters:
    """A vocabulary whose token ids are bytes."""

    def is_special(self, token_id: int) -> bool:
        return False

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([token_id])


@pytest.mark.parametrize("text", ["Hello, world", "北京 — ñandú 🌊", "tabs\tand\nlines", "  spaces  "])
def test_bytes_of_tokens_join_to_the_text(tokenizer, vocabulary, text) -> None:
    ids = tokenizer.encode(text, add_special_tokens=False)

    assert b"".join(vocabulary.token_bytes(token) for token in ids).decode() == text


def test_a_character_that_spans_tokens_appears_once_it_is_whole(tokenizer, vocabulary) -> None:
    stream = TextStream(vocabulary)

    pieces = [stream.push(token) for token in tokenizer.encode("北🌊", add_special_tokens=False)]

    assert "" in pieces
    assert "\ufffd" not in "".join(pieces)
    assert "".join(pieces) == "北🌊"


def test_a_character_that_never_becomes_whole_is_shown_as_unknown(tokenizer, vocabulary) -> None:
    stream = TextStream(vocabulary)
    first = tokenizer.encode("🌊", add_special_tokens=False)[0]

    assert stream.push(first) == ""
    assert stream.finish() == "\ufffd"


def test_special_tokens_have_bytes_and_no_text(tokenizer, vocabulary) -> None:
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")

    assert vocabulary.token_bytes(end) == b"<|im_end|>"
    assert TextStream(vocabulary).push(end) == ""


@given(text=st.text("ab", max_size=30), stops=st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
def test_a_stream_is_the_text_before_the_first_stop_string(text, stops) -> None:
    stream = TextStream(Letters(), stops)  # type: ignore[arg-type]

    seen = ""
    for letter in text.encode():
        seen += stream.push(letter)
        if stream.stopped:
            break
    seen += stream.finish()

    # The first stop string to be complete decides; of those complete at once, the one that began first.
    ends = {text.find(stop) + len(stop) for stop in stops if stop in text}
    if ends:
        whole = text[: min(ends)]
        assert seen == whole[: min(whole.find(stop) for stop in stops if stop in whole)]
    else:
        assert seen == text


def test_text_that_may_become_a_stop_string_is_held_back() -> None:
    stream = TextStream(Letters(), ["END"])  # type: ignore[arg-type]

    assert [stream.push(letter) for letter in b"xENxEND"] == ["x", "", "", "ENx", "", "", ""]
    assert stream.stopped
