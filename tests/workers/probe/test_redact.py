"""Credentials and account ids stay out of whatever people or tables see; answers stay whole."""

from __future__ import annotations

import base64

import pytest

from drift.answers import Target
from workers.probe.headers import worth_keeping
from workers.probe.redact import redact, remove_secrets, secrets_of


@pytest.mark.parametrize(
    "message",
    [
        "Incorrect API key provided: sk-proj-abcdEFGH1234567890.",
        "Invalid token: Bearer abcdef0123456789",
        "Rate limit reached for gpt-4o in organization org-AbCdEf123456 on tokens per min",
        "Project proj_abc123DEF456 does not have access",
        "bad key gsk_abcdefgh12345678",
        "key AIzaSyA1234567890abcdefghij was refused",
        'api_key="0123456789abcdef"',
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
    ],
)
def test_what_looks_like_a_credential_or_an_account_is_blanked(message: str) -> None:
    assert "[removed]" in redact(message)
    assert "12345" not in redact(message).replace("[removed]", "")


def test_ordinary_messages_are_left_alone() -> None:
    message = (
        "The model `gpt-4o` does not exist; max_tokens must be less than 4096 tokens: see https://example.com/docs."
    )
    assert redact(message) == message


def test_long_messages_are_cut_in_linear_time() -> None:
    assert len(redact("sk-" * 1_000_000)) <= 2000


def test_the_key_is_removed_in_every_form_a_server_may_echo_it() -> None:
    target = Target(
        "https://x/v1?api_key=querysecret", "m", api_key="pa+ss/word=12", extra_headers={"X-Api-Key": "headersecret"}
    )
    secrets = secrets_of(target)
    echoes = [
        "pa+ss/word=12",
        "pa%2Bss%2Fword%3D12",
        base64.b64encode(b"pa+ss/word=12").decode(),
        "headersecret",
        "querysecret",
    ]
    body = " ".join(echoes).encode()
    assert remove_secrets(body, secrets).split() == [b"[removed]"] * 5


def test_placeholder_keys_do_not_mangle_answers() -> None:
    assert secrets_of(Target("http://x/v1", "m", api_key="none")) == ()
    assert secrets_of(Target("http://x/v1", "m", api_key="not-needed")) == ()


def test_headers_that_identify_an_account_are_not_kept() -> None:
    raw = [
        (b"X-Request-Id", b"req_1"),
        (b"openai-organization", b"acme"),
        (b"openai-project", b"proj"),
        (b"Set-Cookie", b"a=b"),
        (b"x-litellm-key-spend", b"1"),
        (b"x-ratelimit-remaining-tokens", b"5"),
        (b"llm_provider-x-ms-region", b"East US"),
        (b"llm_provider-openai-organization", b"acme"),
    ]
    assert worth_keeping(raw, ()) == (
        ("x-request-id", "req_1"),
        ("x-ratelimit-remaining-tokens", "5"),
        ("llm_provider-x-ms-region", "East US"),
    )
