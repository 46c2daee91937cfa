"""What determinism costs here, what it would cost on a team's traffic, and when it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max, Min, Sum
from django.utils.translation import gettext

from drift import figures
from drift.batch_effect import Ledger, Price
from drift.models import ObservedBucket, SeriesBucket, Span, Team

WINDOW = timedelta(days=30)
REPEATS = 5  # what an eval needs of an endpoint that does not repeat


@dataclass(frozen=True, slots=True)
class TrafficPrice:
    """Invariant against fast for `tokens_per_day` generated tokens at one number of concurrent requests.

    `extra_hours`: machine hours more per day; `extra_cost`: dollars a day at `hourly` dollars a machine hour, None
    without it. `breaks_even`: the share of traffic that must be repeated asking (evals at 5 repeats) for determinism
    to save more than it costs; above 1 it never does.
    """

    batch: int
    ratio: float
    tokens_per_day: float
    fast_hours: float
    invariant_hours: float
    extra_cost: float | None
    breaks_even: float

    @property
    def extra_hours(self) -> float:
        return self.invariant_hours - self.fast_hours

    @property
    def sentence(self) -> str:
        if self.ratio >= 1:
            said = gettext("At {batch} in flight it costs nothing: it writes {ratio} % as fast.")
        elif self.breaks_even < 1:
            said = gettext(
                "At {batch} in flight it writes {ratio} % as fast. It pays when more than {share} of the traffic "
                "is asking again what was asked already."
            )
        else:
            said = gettext("At {batch} in flight it writes {ratio} % as fast. Saved repeats alone never pay for it.")
        share = figures.percent(min(self.breaks_even, 1.0))
        return said.format(batch=self.batch, ratio=f"{self.ratio * 100:.0f}", share=share)


def on_traffic(prices: Sequence[Price], tokens_per_day: float, hourly: float | None = None) -> tuple[TrafficPrice, ...]:
    """The price at each measured batch.

    With determinism one answer replaces `REPEATS`: a share r of traffic shrinks to r / 5. Both sides cost the same
    where (1 - r + r / 5) / ratio = 1, so r = (1 - ratio) / (1 - 1 / 5).
    """
    found = []
    for price in prices:
        fast = tokens_per_day / price.fast / 3600
        invariant = tokens_per_day / price.invariant / 3600
        found.append(
            TrafficPrice(
                batch=price.batch,
                ratio=price.ratio,
                tokens_per_day=tokens_per_day,
                fast_hours=fast,
                invariant_hours=invariant,
                extra_cost=None if hourly is None else (invariant - fast) * hourly,
                breaks_even=max(0.0, (1 - price.ratio) / (1 - 1 / REPEATS)),
            )
        )
    return tuple(found)


def tokens_per_day(team: Team, now: datetime) -> tuple[float, str] | None:
    """(generated tokens a day, how that is known): production's own reports, else what Tidegauge itself asked."""
    seen = ObservedBucket.objects.filter(endpoint__team=team, starts_at__gte=now - WINDOW).aggregate(
        tokens=Sum("completion_tokens"), first=Min("starts_at"), last=Max("starts_at")
    )
    if seen["tokens"]:
        days = max(1.0, (seen["last"] - seen["first"]) / timedelta(days=1))
        return seen["tokens"] / days, gettext("reported by your production")
    own = SeriesBucket.objects.filter(
        series__endpoint__team=team, span=Span.DAY, starts_at__gte=now - WINDOW
    ).aggregate(tokens=Sum("completion_tokens"), first=Min("starts_at"), last=Max("starts_at"))
    if own["tokens"]:
        days = max(1.0, (own["last"] - own["first"]) / timedelta(days=1))
        return own["tokens"] / days, gettext("what Tidegauge itself asks")
    return None


def cheapest(ledger: Ledger | None) -> str:
    """The worker's price in a sentence; '' where it was not measured here."""
    if ledger is None or not ledger.prices:
        return ""
    best = max(ledger.prices, key=lambda price: price.ratio)
    worst = min(ledger.prices, key=lambda price: price.ratio)
    return gettext(
        "Invariant mode writes {best} % as fast as fast mode at {best_batch} in flight and {worst} % at {worst_batch}."
    ).format(
        best=f"{best.ratio * 100:.0f}",
        best_batch=best.batch,
        worst=f"{worst.ratio * 100:.0f}",
        worst_batch=worst.batch,
    )
