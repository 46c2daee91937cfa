"""The thresholds that decide, their meaning, and a team's own values for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_lazy

from drift.entered import EntryError
from drift.models import FitThresholds, Team, User

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class Threshold:
    """`unit`: share (0 to 1, shown in per cent), tokens, nats, or number. `low`, `high`: what may be entered."""

    key: str
    label: StrOrPromise
    help: StrOrPromise
    unit: str
    default: float
    low: float
    high: float


THRESHOLDS = (
    Threshold(
        "replay_bound",
        gettext_lazy("Replay: pairs that might differ unseen"),
        gettext_lazy("No pair may differ, and enough must have been asked to exclude more than this"),
        *("share", 0.01, 0.0001, 0.5),
    ),
    Threshold(
        "audit_cap",
        gettext_lazy("Audit: your cap"),
        gettext_lazy("Answers up to here must repeat"),
        "tokens",
        128,
        1,
        100_000,
    ),
    Threshold(
        "rl_gap",
        gettext_lazy("RL: largest gap of a log probability"),
        gettext_lazy("Between sampling a token and scoring it again; 0 means bit for bit"),
        *("nats", 0.0, 0.0, 10.0),
    ),
    Threshold(
        "rl_tokens",
        gettext_lazy("RL: tokens compared"),
        gettext_lazy("Fewer prove nothing"),
        "number",
        100,
        1,
        1_000_000,
    ),
    Threshold(
        "prefix_hits",
        gettext_lazy("Prefix: repeated prompts served from the cache"),
        gettext_lazy("At least this share"),
        *("share", 0.5, 0.01, 1.0),
    ),
    Threshold(
        "prefix_excess",
        gettext_lazy("Prefix: change that a hit might make unseen"),
        gettext_lazy("The upper end of the interval must not be above this"),
        *("share", 0.25, 0.01, 1.0),
    ),
    Threshold(
        "creative_divergence",
        gettext_lazy("Creative: pairs that differ as it is asked"),
        gettext_lazy("At least this share"),
        *("share", 0.5, 0.01, 1.0),
    ),
)
DEFAULTS: Mapping[str, float] = {one.key: one.default for one in THRESHOLDS}


def thresholds_of(team: Team) -> dict[str, float]:
    """The defaults with what the team changed."""
    stored = FitThresholds.objects.filter(team=team).first()
    return {**DEFAULTS, **(stored.values if stored else {})}


def change(team: Team, user: User | None, values: Mapping[str, float]) -> None:
    """Keeps what differs from the defaults. Raises EntryError."""
    known = {one.key: one for one in THRESHOLDS}
    for key, value in values.items():
        one = known.get(key)
        if one is None:
            raise EntryError(
                gettext("There is no threshold called {key}. Known: {join}.").format(key=key, join=", ".join(known))
            )
        if not one.low <= value <= one.high:
            raise EntryError(
                gettext("{label}: enter a number from {low} to {high}, not {value}.").format(
                    label=one.label, low=f"{one.low:g}", high=f"{one.high:g}", value=f"{value:g}"
                )
            )
    whole = {**thresholds_of(team), **values}
    kept = {key: value for key, value in whole.items() if value != DEFAULTS[key]}
    FitThresholds.objects.update_or_create(team=team, defaults={"values": kept, "updated_by": user})
