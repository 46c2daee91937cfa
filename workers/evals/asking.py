"""Asks the open questions of a run, many at a time, and stores the answers as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.utils import timezone
from django.utils.translation import gettext_noop

from drift import endpoints
from drift.addresses import AddressRule
from drift.answers import Ask, Target
from drift.costs import cost_of
from drift.evals import record, runs
from drift.evals.case import digest, prompt
from drift.evals.store import case_of
from drift.models import EvalArm, EvalRun
from drift.said import said
from workers.evals.order import Place
from workers.evals.shares import Holder, Shares, WaitError
from workers.probe.holding import ClaimLostError, keep, while_held
from workers.probe.patience import Asker

STORE_EVERY_S = 2.0


class CapReachedError(Exception):
    """The run's budget is used up; the message says which."""


@dataclass(slots=True)
class Budget:
    """What was spent, counted as answers come, against the run's caps."""

    cost_cap: Decimal | None
    token_cap: int | None
    cost: Decimal
    tokens: int

    def spend(self, cost: Decimal | None, tokens: int) -> None:
        self.cost += cost or Decimal(0)
        self.tokens += tokens

    def reached(self) -> str:
        """Which cap is reached; '' if none."""
        if self.cost_cap is not None and self.cost >= self.cost_cap:
            return said(
                gettext_noop("the cap of $ {cost_cap} is reached ($ {cost} spent)"),
                cost_cap=f"{self.cost_cap:,.2f}",
                cost=f"{self.cost:,.4f}",
            )
        if self.token_cap is not None and self.tokens >= self.token_cap:
            return said(
                gettext_noop("the cap of {token_cap} tokens is reached ({tokens} used)"),
                token_cap=f"{self.token_cap:,}",
                tokens=f"{self.tokens:,}",
            )
        return ""


@dataclass(slots=True)
class Round:
    """One stretch of asking: what is open, what came and is not stored yet."""

    run: EvalRun
    token: UUID
    until: datetime
    budget: Budget
    came: list[record.Asked] = field(default_factory=list)
    brought: int = 0

    def may_go_on(self) -> bool:
        return not self.budget.reached() and timezone.now() < self.until

    def flush(self) -> None:
        """Stores what came and prolongs the claim. Raises ClaimLostError."""
        batch, self.came = self.came, []
        if not record.store(self.run, self.token, batch) or not runs.renew(self.run, self.token, timezone.now()):
            raise ClaimLostError
        self.brought += len(batch)


def target_of(arm: EvalArm) -> Target:
    """The arm's endpoint with the arm's parameters on top; a parameter set to null is left out."""
    target = endpoints.target_of(arm.endpoint)
    merged = {**target.parameters, **arm.parameters}
    return replace(target, parameters={name: value for name, value in merged.items() if value is not None})


def ask_open(round_: Round, arms: Sequence[EvalArm], open_places: Sequence[Place]) -> None:
    """Asks until all is asked, the budget or the time is used up, or a circuit opens.

    Raises WaitError when an endpoint may not be asked now, CapReachedError, ClaimLostError. What came is stored.
    """
    if round_.budget.reached():
        raise CapReachedError(round_.budget.reached())
    holder = Holder(f"eval-{round_.run.pk}", round_.run.concurrency)
    with Shares({arm.endpoint_id: arm.endpoint for arm in arms}.values(), holder) as shares:
        asyncio.run(_ask(round_, arms, open_places, shares))
        closed = shares.closed()
    if round_.budget.reached():
        raise CapReachedError(round_.budget.reached())
    if closed:
        raise WaitError(closed, timedelta(seconds=30))


async def _ask(round_: Round, arms: Sequence[EvalArm], open_places: Sequence[Place], shares: Shares) -> None:
    rule = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS)
    # One order for all: whoever is slow holds the others back, so that arms stay beside each other in time.
    left = iter(open_places)
    gates = {arm.endpoint_id: asyncio.Semaphore(shares[arm.endpoint_id].places) for arm in arms}

    async with AsyncExitStack() as stack:
        askers = {
            arm.pk: await stack.enter_async_context(Asker(target_of(arm), rule, shares[arm.endpoint_id]))
            for arm in arms
        }

        async def take(place: Place) -> None:
            version = round_.run.version
            case = case_of(place.case)
            template = place.arm.template or ("" if case.messages else version.template)
            messages = prompt(case, template, place.arm.system)
            async with gates[place.arm.endpoint_id]:
                exchange, decoded = await askers[place.arm.pk].ask(Ask(messages, round_.run.max_tokens))
            answer = record.Asked(place.arm, place.case, place.repeat, digest(messages), exchange, decoded)
            round_.came.append(answer)
            usage = decoded.usage
            spent = cost_of(place.arm.endpoint, usage)
            round_.budget.spend(spent, (usage.prompt_tokens or 0) + (usage.completion_tokens or 0))

        async def take_all() -> None:
            for place in left:
                if not round_.may_go_on() or not shares[place.arm.endpoint_id].may_go_on():
                    return
                await take(place)

        async def ask() -> None:
            if any(shares[arm.endpoint_id].on_trial for arm in arms):  # one answer decides whether more are asked
                first = next(left, None)
                if first is not None:
                    await take(first)
            await asyncio.gather(*(take_all() for _ in range(min(shares.places, len(open_places)))))

        def renew() -> bool:
            round_.flush()
            shares.keep()
            return True

        await while_held(ask(), keep(renew, STORE_EVERY_S))
    await sync_to_async(round_.flush)()
    await sync_to_async(connections.close_all)()
