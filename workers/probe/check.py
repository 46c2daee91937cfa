"""Performs one endpoint check: negotiates, and stores what was found or what a person has to solve."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_noop

from drift import endpoints
from drift.addresses import AddressRule
from drift.answers import Target
from drift.display import visible
from drift.said import said, shown
from workers.probe.negotiate import NOT_ASKED, Negotiation, negotiate

CHECK_DEADLINE_S = 120.0


def perform(check_id: int) -> None:
    """Does the check if it still waits. An endpoint's failure is a result, with the sentence that explains it."""
    check = endpoints.claim_check(check_id, timezone.now())
    if check is None:
        return
    endpoint = check.endpoint
    target = replace(endpoints.target_of(endpoint), parameters=endpoint.wished_parameters)
    rule = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)
    try:
        found = asyncio.run(_within(CHECK_DEADLINE_S, target, rule))
    except TimeoutError:
        problem = said(
            gettext_noop("The endpoint had not answered our questions after {check_deadline_s} s. Check again later."),
            check_deadline_s=f"{CHECK_DEADLINE_S:.0f}",
        )
        found = Negotiation(target, problem=problem)
    endpoints.finish_check(
        check,
        now=timezone.now(),
        problem=shown(found.problem or "", 4000),
        report={"models": found.models[:200], "advice": found.advice, "requests": found.requests},
        capabilities={
            name: (
                capability.state,
                visible(capability.value)[:80],
                said(NOT_ASKED.evidence) if capability == NOT_ASKED else shown(capability.evidence, 4000),
            )
            for name, capability in found.capabilities.items()
        },
        settings={
            "parameters": dict(found.target.parameters),
            "cap_parameter": found.target.cap_parameter,
            "transport": found.target.transport,
        },
    )


async def _within(seconds: float, target: Target, rule: AddressRule) -> Negotiation:
    async with asyncio.timeout(seconds):
        return await negotiate(target, allow=rule)
