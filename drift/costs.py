"""What an answer cost, where that is known."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from drift.answers import Usage
from drift.models import Endpoint

PER_MILLION = Decimal(1_000_000)


def cost_of(endpoint: Endpoint, usage: Usage) -> Decimal | None:
    """Dollars: what the provider reported, else the endpoint's prices times the reported tokens; None if unknown."""
    if usage.cost is not None:
        return usage.cost
    if endpoint.price_in is None or endpoint.price_out is None:
        return None
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return (endpoint.price_in * usage.prompt_tokens + endpoint.price_out * usage.completion_tokens) / PER_MILLION


def first_of_month(now: datetime) -> datetime:
    """When the month began, in UTC: costs are kept by its days."""
    return now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
