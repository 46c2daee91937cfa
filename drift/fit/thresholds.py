"""The thresholds that decide, their meaning, and a team's own values for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drift.entered import EntryError
from drift.models import FitThresholds, Team, User


@dataclass(frozen=True, slots=True)
class Threshold:
    """`unit`: share (0 to 1, shown in per cent), tokens, nats, or number. `low`, `high`: what may be entered."""

    key: str
    label: str
    help: str
    unit: str
    default: float
    low: float
    high: float


THRESHOLDS = (
    Threshold(
        "replay_bound",
        "Replay: pairs that might differ unseen",
        "No pair may differ, and enough must have been asked to exclude more than this",
        *("share", 0.01, 0.0001, 0.5),
    ),
    Threshold("audit_cap", "Audit: your cap", "Answers up to here must repeat", "tokens", 128, 1, 100_000),
    Threshold(
        "rl_gap",
        "RL: largest gap of a log probability",
        "Between sampling a token and scoring it again; 0 means bit for bit",
        *("nats", 0.0, 0.0, 10.0),
    ),
    Threshold("rl_tokens", "RL: tokens compared", "Fewer prove nothing", "number", 100, 1, 1_000_000),
    Threshold(
        "prefix_hits",
        "Prefix: repeated prompts served from the cache",
        "At least this share",
        *("share", 0.5, 0.01, 1.0),
    ),
    Threshold(
        "prefix_excess",
        "Prefix: change that a hit might make unseen",
        "The upper end of the interval must not be above this",
        *("share", 0.25, 0.01, 1.0),
    ),
    Threshold(
        "creative_divergence",
        "Creative: pairs that differ as it is asked",
        "At least this share",
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
            raise EntryError(f"There is no threshold called {key}. Known: {', '.join(known)}.")
        if not one.low <= value <= one.high:
            raise EntryError(f"{one.label}: enter a number from {one.low:g} to {one.high:g}, not {value:g}.")
    whole = {**thresholds_of(team), **values}
    kept = {key: value for key, value in whole.items() if value != DEFAULTS[key]}
    FitThresholds.objects.update_or_create(team=team, defaults={"values": kept, "updated_by": user})
