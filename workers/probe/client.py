"""Asks one endpoint, through the official `openai` SDK, and returns what came back byte for byte."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import httpx2
from django.utils.translation import gettext_noop
from openai import AsyncOpenAI, AsyncStream, Omit, OpenAIError
from openai._constants import RAW_RESPONSE_HEADER

from drift.addresses import AddressRule
from drift.answers import ApiKind, Ask, Exchange, Outcome, Target, Transport
from drift.said import said
from workers.probe.capture import CURRENT, Capture
from workers.probe.faults import describe, outcome_of
from workers.probe.guard import CONNECT_TIMEOUT_S, GuardedTransport, tls_context
from workers.probe.headers import FRESH, worth_keeping
from workers.probe.redact import remove_secrets, secrets_of

LINGER_S = 0.5
"""How long a stream may stay open after its `[DONE]`."""

_DONE = re.compile(rb"\ndata: ?\[DONE\]")
"""At the start of a line: inside an answer that speaks of streams, the line break would be escaped."""

Call = Callable[[AsyncOpenAI, Mapping[str, str | Omit]], Awaitable[Any]]


class Prober:
    """One endpoint's client: keeps connections between asks, follows no redirect, repeats nothing silently.

    `ask` returns an `Exchange` for everything an endpoint can do, and raises nothing but `CancelledError`.
    What it returns holds none of the credentials of `target`.
    """

    def __init__(self, target: Target, *, allow: AddressRule) -> None:
        self._target = target
        self._allow = allow
        self._secrets = secrets_of(target)
        self._plain_only = False  # set once an answer was not in the encoding it claimed
        self._client: AsyncOpenAI | None = None
        self._unusable = ""

    @property
    def target(self) -> Target:
        return self._target

    async def __aenter__(self) -> Self:
        target = self._target
        parts = urlsplit(target.base_url)
        try:
            context = tls_context(secure=parts.scheme == "https", ca_bundle=target.ca_bundle, verify=target.verify_tls)
        except ssl.SSLError as error:
            self._unusable = said(
                gettext_noop("The certificate bundle of this endpoint is not valid PEM: {describe}"),
                describe=describe(error),
            )
            return self
        headers = {**FRESH, **target.extra_headers}
        self._client = AsyncOpenAI(
            api_key=target.api_key or "none",
            base_url=urlunsplit(parts._replace(query="", fragment="")),
            default_query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            default_headers=headers,
            max_retries=0,
            timeout=httpx2.Timeout(target.deadline_s, connect=min(CONNECT_TIMEOUT_S, target.deadline_s)),
            http_client=httpx2.AsyncClient(
                transport=GuardedTransport(self._allow, context), follow_redirects=False, trust_env=False
            ),
        )
        # The SDK reads these from the environment of the process; they belong to someone else's account.
        self._client.organization = None
        self._client.project = None
        self._client._custom_headers = headers
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def ask(self, ask: Ask, *, like: Target | None = None) -> Exchange:
        """One answer to `ask`, or what came instead of it.

        `like` words this one request differently: its model, kind, transport, parameters and cap parameter
        are used.
        """
        target = like or self._target
        stream = target.transport is Transport.STREAM
        body = {target.cap_parameter: ask.max_tokens, **target.parameters}

        # Messages go beside the SDK's own arguments: it would rewrite them by its types, at a cost, where they are to
        # arrive as they are.
        async def chat(client: AsyncOpenAI, headers: Mapping[str, str | Omit]) -> Any:
            return await client.chat.completions.with_raw_response.create(
                model=target.model,
                messages=[],
                stream=stream,
                extra_body={**body, "messages": ask.messages},
                extra_headers=headers,
            )

        async def responses(client: AsyncOpenAI, headers: Mapping[str, str | Omit]) -> Any:
            return await client.responses.with_raw_response.create(
                model=target.model,
                input=[],
                stream=stream,
                store=False,
                extra_body={**body, "input": ask.messages},
                extra_headers=headers,
            )

        call = responses if target.kind is ApiKind.RESPONSES else chat
        return replace(await self._exchange(call, target.transport), kind=target.kind)

    async def resend(self, body: bytes) -> Exchange:
        """The answer to exactly these bytes, sent to where `ask` would send its own."""
        target = self._target
        path = "/responses" if target.kind is ApiKind.RESPONSES else "/chat/completions"

        async def send(client: AsyncOpenAI, headers: Mapping[str, str | Omit]) -> Any:
            raw = {**headers, "Content-Type": "application/json", RAW_RESPONSE_HEADER: "true"}
            return await client.post(
                path,
                cast_to=object,
                content=body,
                options={"headers": raw},
                stream=target.transport is Transport.STREAM,
                stream_cls=AsyncStream[object],
            )

        return replace(await self._exchange(send, target.transport), kind=target.kind)

    async def complete(self, fields: Mapping[str, Any]) -> Exchange:
        """The answer to `POST /completions` with `fields`: a plain continuation or, with `echo`, scores of a text."""

        async def completions(client: AsyncOpenAI, headers: Mapping[str, str | Omit]) -> Any:
            return await client.completions.with_raw_response.create(
                model=self._target.model, prompt="", extra_body=dict(fields), extra_headers=headers
            )

        return await self._exchange(completions, Transport.WHOLE)

    async def models(self) -> Exchange:
        """The answer to `GET /models`: which models the endpoint says it has."""

        async def models(client: AsyncOpenAI, headers: Mapping[str, str | Omit]) -> Any:
            return await client.models.with_raw_response.list(extra_headers=headers)

        return await self._exchange(models, Transport.WHOLE)

    async def _exchange(self, call: Call, transport: Transport) -> Exchange:
        first = await self._once(call, transport)
        if first.transport_error is not Outcome.BAD_ENCODING or self._plain_only:
            return first
        self._plain_only = True
        return replace(await self._once(call, transport), attempts=2)

    async def _once(self, call: Call, transport: Transport) -> Exchange:
        target = self._target
        capture = Capture(max_bytes=target.max_body_bytes)
        started_at, started = datetime.now(UTC), time.perf_counter()
        fault: tuple[Outcome, str] | None = None
        token = CURRENT.set(capture)
        try:
            async with asyncio.timeout(target.deadline_s):
                await self._receive(call, capture, transport)
        except TimeoutError:
            said = "Nothing" if capture.status is None else f"Status {capture.status} and {capture.size:,} bytes"
            fault = (
                Outcome.TIMEOUT,
                f"{said} had arrived when the deadline of {target.deadline_s:g} s passed.",
            )
        except Exception as error:
            # The SDK, its HTTP client and the parsers below them raise well beyond their own families on odd
            # answers. Once the whole body is here, what the SDK thinks of it does not matter.
            if not capture.complete:
                fault = (outcome_of(error), describe(error, self._secrets))
        finally:
            CURRENT.reset(token)
        latency_ms = (time.perf_counter() - started) * 1000
        error_kind, detail = fault or (None, "")
        if error_kind is Outcome.UNREACHABLE and capture.size and transport is Transport.STREAM:
            # The stream was cut. How much of an answer it holds is for the decoder to say.
            error_kind = None
        return Exchange(
            request_body=remove_secrets(capture.request_body, self._secrets),
            transport=transport,
            started_at=started_at,
            latency_ms=latency_ms,
            first_byte_ms=None if capture.first_byte_at is None else (capture.first_byte_at - started) * 1000,
            status=capture.status,
            headers=worth_keeping(capture.raw_headers, self._secrets),
            body=remove_secrets(capture.body, self._secrets),
            transport_error=error_kind,
            error_detail=detail,
        )

    async def _receive(self, call: Call, capture: Capture, transport: Transport) -> None:
        if self._client is None:
            raise OpenAIError(self._unusable or "The prober is used outside its 'async with' block.")
        headers: dict[str, str | Omit] = {"Accept-Encoding": "identity" if self._plain_only else "gzip, deflate"}
        if not self._target.api_key and "authorization" not in map(str.lower, self._target.extra_headers):
            # This is how the SDK is told to send no Authorization header at all.
            headers["Authorization"] = Omit()
        response = (await call(self._client, headers)).http_response
        if transport is Transport.WHOLE:
            await response.aread()
            return
        tail = b"\n"
        pieces = response.aiter_raw()
        while (piece := await _next(pieces, LINGER_S if _DONE.search(tail) else None)) is not None:
            tail = (tail + piece)[-4096:]
        await response.aclose()
        capture.complete = True


async def _next(pieces: Any, patience_s: float | None) -> bytes | None:
    """The next piece of a stream; None at its end, or when `patience_s` passes first."""
    try:
        async with asyncio.timeout(patience_s):
            return bytes(await anext(pieces))
    except StopAsyncIteration:
        return None
    except TimeoutError:
        if patience_s is None:
            raise
        return None
