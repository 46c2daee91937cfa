"""One POST to an address that a person entered: checked where it leads, bounded in time and size, never redirected."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from django.utils.translation import gettext_noop

from drift.addresses import AddressRule
from drift.said import said
from workers.notify.errors import TransportError
from workers.probe.guard import AddressRefused, GuardedTransport, tls_context

DEADLINE_S = 20.0
MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    text: str


def post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """The receiver's answer, whatever its status. Raises TransportError where there is none."""
    try:
        return asyncio.run(_post(url, body, headers))
    except AddressRefused as error:
        raise TransportError(str(error), permanent=True) from error
    except TimeoutError as error:
        raise TransportError(
            said(
                gettext_noop("{host} did not answer within {deadline_s} s."),
                host=_host(url),
                deadline_s=f"{DEADLINE_S:.0f}",
            )
        ) from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
        raise TransportError(
            said(gettext_noop("The address cannot be used: {error}"), error=str(error)), permanent=True
        ) from error
    except httpx2.HTTPError as error:
        refused = _refusal_in(error)
        if refused is not None:
            raise TransportError(str(refused), permanent=True) from error
        raise TransportError(
            said(
                gettext_noop("{host} could not be reached: {kind} {error}"),
                host=_host(url),
                kind=type(error).__name__,
                error=str(error),
            )
        ) from error
    except OSError as error:
        raise TransportError(
            said(gettext_noop("{host} could not be reached: {error}"), host=_host(url), error=str(error))
        ) from error


async def _post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    rule = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)
    context = tls_context(secure=url.startswith("https"), ca_bundle="", verify=True)
    async with (
        asyncio.timeout(DEADLINE_S),
        httpx2.AsyncClient(
            transport=GuardedTransport(rule, context), timeout=DEADLINE_S, follow_redirects=False, trust_env=False
        ) as client,
        client.stream("POST", url, content=body, headers={"user-agent": "tidegauge", **headers}) as response,
    ):
        text = b""
        async for chunk in response.aiter_raw():
            text += chunk
            if len(text) >= MOST_BYTES:
                break
        return Answer(response.status_code, text[:MOST_BYTES].decode("utf-8", "replace"))


def _refusal_in(error: BaseException) -> AddressRefused | None:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AddressRefused):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def _host(url: str) -> str:
    """What may be said of the address: a webhook's path is a secret."""
    return urlsplit(url).hostname or said(gettext_noop("the address"))
