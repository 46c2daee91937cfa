"""Keeps a check-up within its caps: no request goes out that could pass one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

from django.utils.translation import gettext_noop

from drift.answers import Usage
from drift.checkup.plan import prompt_tokens
from drift.checkup.questions import Question
from drift.costs import cost_of
from drift.evals.plan import price_of
from drift.models import Checkup, Endpoint
from drift.said import said


class CapReachedError(Exception):
    """The next request could pass a cap; the message says which."""


class Budget:
    """Spent so far, and reserved by requests in flight at the most they can cost."""

    def __init__(self, checkup: Checkup, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._cost_cap, self._token_cap = checkup.cost_cap, checkup.token_cap
        self._cost, self._tokens = checkup.cost, checkup.tokens

    @contextmanager
    def reserved(self, question: Question, max_tokens: int) -> Iterator[Spending]:
        """Holds what one request can cost until it is known what it did. Raises CapReachedError."""
        most = prompt_tokens(question) + max_tokens
        price = price_of(self._endpoint, prompt_tokens(question), max_tokens) or Decimal(0)
        if self._token_cap is not None and self._tokens + most > self._token_cap:
            raise CapReachedError(
                said(
                    gettext_noop("the cap of {token_cap} tokens is reached ({tokens} used)"),
                    token_cap=f"{self._token_cap:,}",
                    tokens=f"{self._tokens:,}",
                )
            )
        if self._cost_cap is not None and self._cost + price > self._cost_cap:
            raise CapReachedError(
                said(
                    gettext_noop("the cap of $ {cost_cap} is reached ($ {cost} spent)"),
                    cost_cap=f"{self._cost_cap:.2f}",
                    cost=f"{self._cost:.2f}",
                )
            )
        self._tokens += most
        self._cost += price
        spending = Spending()
        try:
            yield spending
        finally:
            usage = spending.usage
            if usage.prompt_tokens is not None and usage.completion_tokens is not None:
                self._tokens += usage.prompt_tokens + usage.completion_tokens - most
                self._cost += (cost_of(self._endpoint, usage) or Decimal(0)) - price


class Spending:
    """What one request used, as far as the endpoint said."""

    def __init__(self) -> None:
        self.usage = Usage()
