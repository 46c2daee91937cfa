"""The HTTP transport of the prober: connects only to addresses that were checked, and records every byte.

A name is resolved once per connection; every address it resolves to is checked; the connection goes to a
checked address while Host, SNI and certificate still speak of the name. A second look-up that could answer
differently never happens. Redirects are not followed, proxies from the environment are not used: both would
lead around the check.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, cast

import httpcore2
import httpx2

from drift.addresses import AddressRule
from workers.probe.capture import CURRENT, RecordedStream

CONNECT_TIMEOUT_S = 10.0
KEEPALIVE_S = 3.0
"""Common servers drop idle connections after 5 s; below that, a request never meets one that is closing."""


class AddressRefused(httpcore2.ConnectError):
    """The name leads to an address that the rule forbids. The message is for the person who entered it."""


class CheckedBackend(httpcore2.AnyIOBackend):
    """Opens TCP connections after checking every address that the host name resolves to."""

    def __init__(self, allow: AddressRule) -> None:
        self._allow = allow

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = await _resolve(host, port)
        for address in addresses:
            refusal = self._allow.refusal(host, address)
            if refusal is not None:
                raise AddressRefused(refusal)
        problem: Exception | None = None
        for address in addresses:
            try:
                return await super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problem = error
        raise problem or httpcore2.ConnectError(f"{host} has no address.")


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """`httpx2`'s transport on a `CheckedBackend`, writing each exchange into the current task's capture."""

    def __init__(self, allow: AddressRule, context: ssl.SSLContext) -> None:
        super().__init__(verify=context, trust_env=False)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context,
            max_connections=None,  # the caller holds the endpoint's concurrency
            max_keepalive_connections=64,
            keepalive_expiry=KEEPALIVE_S,
            network_backend=CheckedBackend(allow),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        capture = CURRENT.get()
        if capture is None:
            return await super().handle_async_request(request)
        capture.request_body = request.content
        response = await super().handle_async_request(request)
        capture.status = response.status_code
        capture.raw_headers = list(response.headers.raw)
        inner = cast(httpx2.AsyncByteStream, response.stream)
        encoding = response.headers.get("content-encoding", "")
        response.stream = RecordedStream(inner, capture, encoding)
        if encoding:
            # The recorder undoes it; the SDK must not try again.
            del response.headers["content-encoding"]
        return response


def tls_context(*, secure: bool, ca_bundle: str, verify: bool) -> ssl.SSLContext:
    """The TLS context for one endpoint. `ca_bundle` is PEM text, used beside the public authorities.

    Raises `ssl.SSLError` when the bundle cannot be read.
    """
    if not secure or not verify:
        # Building the trust store takes tens of milliseconds; a plain-HTTP endpoint never looks at it.
        bare = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if not verify:
            bare.check_hostname = False
            bare.verify_mode = ssl.CERT_NONE
        return bare
    if not ca_bundle.strip():
        return _public_context()
    context = httpx2.create_ssl_context(trust_env=False)
    context.load_verify_locations(cadata=ca_bundle)
    return context


@lru_cache(maxsize=1)
def _public_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


async def _resolve(host: str, port: int) -> list[str]:
    """The addresses of `host`, in the resolver's order, without repeats. Raises `httpcore2.ConnectError`."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore2.ConnectError(f"The name {host} cannot be resolved ({error}).") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
