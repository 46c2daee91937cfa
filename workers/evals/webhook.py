"""Posts one answer to a person's own grading server: guarded like every endpoint, bounded in time and size."""

from __future__ import annotations

import asyncio

import httpx2
from django.utils.translation import gettext_noop

from drift.addresses import AddressRule
from drift.evals.case import Case
from drift.evals.graders import Grade, Webhook
from drift.said import said
from workers.probe.faults import describe
from workers.probe.guard import GuardedTransport, tls_context

DEADLINE_S = 30.0
LARGEST_ANSWER = 64 * 1024


async def post(hook: Webhook, answer: str, case: Case, rule: AddressRule) -> tuple[Grade, bytes]:
    """The grade, and the body as it came. A server that fails, stalls or says nonsense leaves the answer unscored."""
    context = tls_context(secure=hook.url.startswith("https"), ca_bundle="", verify=True)
    body = b""
    try:
        async with (
            asyncio.timeout(DEADLINE_S),
            httpx2.AsyncClient(
                transport=GuardedTransport(rule, context), follow_redirects=False, trust_env=False, timeout=DEADLINE_S
            ) as client,
            client.stream(
                "POST", hook.url, content=hook.body(answer, case), headers={"Content-Type": "application/json"}
            ) as response,
        ):
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > LARGEST_ANSWER:
                    return Grade(None, "", said(gettext_noop("the webhook's answer is larger than 64 KB"))), body[
                        :LARGEST_ANSWER
                    ]
            return hook.read(response.status_code, body), body
    except TimeoutError:
        return Grade(
            None,
            "",
            said(gettext_noop("the webhook had not answered after {deadline_s} s"), deadline_s=f"{DEADLINE_S:.0f}"),
        ), body
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        return Grade(
            None, "", said(gettext_noop("the webhook could not be asked: {describe}"), describe=describe(error))
        ), body
