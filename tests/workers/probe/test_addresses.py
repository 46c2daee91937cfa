"""Where endpoints may lead: the public internet, and beyond it only what an administrator listed."""

from __future__ import annotations

import pytest

from drift.addresses import AddressError, AddressRule, read_base_url


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("127.8.9.1", "loopback"),
        ("::1", "loopback"),
        ("10.1.2.3", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("fd00::1", "private"),
        ("0.0.0.0", "unspecified"),
        ("::", "unspecified"),
        ("224.0.0.1", "multicast"),
        ("255.255.255.255", "private"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:169.254.169.254", "link-local"),
        ("64:ff9b::7f00:1", "loopback"),
        ("2002:7f00:1::", "loopback"),
        ("192.0.2.1", "private"),
        ("2001:db8::1", "private"),
    ],
)
def test_addresses_that_are_not_public_are_refused_with_their_kind(address: str, kind: str) -> None:
    refusal = AddressRule().refusal("api.example.com", address)
    assert refusal is not None
    assert f"a {kind} address" in refusal


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_open_to_everyone(address: str) -> None:
    assert AddressRule().refusal("api.example.com", address) is None


def test_a_listed_network_opens_exactly_its_addresses() -> None:
    rule = AddressRule.parse(["10.1.0.0/16", "::1"])
    assert rule.refusal("vllm", "10.1.200.3") is None
    assert rule.refusal("vllm", "::ffff:10.1.200.3") is None
    assert rule.refusal("vllm", "::1") is None
    assert rule.refusal("vllm", "10.2.0.1") is not None
    assert rule.refusal("vllm", "127.0.0.1") is not None


def test_a_listed_host_may_be_private_but_never_lead_to_cloud_metadata() -> None:
    rule = AddressRule.parse(["vllm.internal"])
    assert rule.refusal("VLLM.internal.", "192.168.7.7") is None
    assert rule.refusal("vllm.internal", "169.254.169.254") is not None
    assert rule.refusal("other.internal", "192.168.7.7") is not None


def test_an_entry_that_is_neither_network_nor_host_is_named() -> None:
    with pytest.raises(AddressError, match=r"10\.0\.0\.0/99"):
        AddressRule.parse(["10.0.0.0/99"])


@pytest.mark.parametrize(
    "url", ["http://localhost:8000/v1", "http://127.0.0.1/v1", "http://[::1]/v1", "http://x.localhost"]
)
def test_a_form_can_refuse_a_literal_without_dns(url: str) -> None:
    assert AddressRule().refusal_of_literal(url) is not None
    assert AddressRule.parse(["127.0.0.0/8", "::1"]).refusal_of_literal(url) is None


def test_a_name_is_left_to_the_moment_of_connecting() -> None:
    assert AddressRule().refusal_of_literal("https://api.example.com/v1") is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (" https://api.example.com/v1/ ", "https://api.example.com/v1"),
        ("https://api.example.com/v1/chat/completions", "https://api.example.com/v1"),
        ("https://api.example.com/v1/responses", "https://api.example.com/v1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("https://x.azure.com/openai?api-version=1", "https://x.azure.com/openai?api-version=1"),
    ],
)
def test_a_base_url_is_read_as_it_was_meant(typed: str, meant: str) -> None:
    assert read_base_url(typed) == meant


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "api.example.com",
        "ftp://x/v1",
        "file:///etc/passwd",
        "https://",
        "https://a:b@x/v1",
        "http://x:0/",
        "http://x:99999/",
        "http://x y/",
    ],
)
def test_a_base_url_that_cannot_work_is_refused_with_a_sentence(typed: str) -> None:
    with pytest.raises(AddressError) as caught:
        read_base_url(typed)
    assert str(caught.value).endswith(".")
