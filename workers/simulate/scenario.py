"""What a simulated endpoint does: which versions answer when, how often near-ties flip, what it refuses, how it
fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import yaml

MARK = "simulated-"


class ScenarioError(ValueError):
    """A scenario that cannot be read; the message names the field."""


@dataclass(frozen=True, slots=True)
class Version:
    """One state of the model behind the endpoint.

    `fingerprints` are flapped between by weight; () sends no such key, a None value sends null. `salt` chooses the
    texts: two versions with equal salt answer alike. `changed_prompts` is the share of prompts whose text the salt
    touches. `flip_rate` is the probability that one near-tie falls the other way in one answer.
    """

    fingerprints: tuple[tuple[str | None, float], ...] = (("fp_5151515151", 1.0),)
    salt: int = 0
    changed_prompts: float = 1.0
    flip_rate: float = 0.0
    model_echo: str = ""
    template_tokens: int = 8
    length: int = 40


@dataclass(frozen=True, slots=True)
class Phase:
    """From `at_s` after the start on, `share` of the requests get `version`; the share grows from 0 over `ramp_s`."""

    at_s: float
    version: Version
    share: float = 1.0
    ramp_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Storm:
    """Between two times `share` of the requests are refused with `status`. `retry_after` is the header, as sent."""

    from_s: float
    to_s: float
    share: float = 1.0
    status: int = 429
    retry_after: str = "2"


@dataclass(frozen=True, slots=True)
class Support:
    """What the endpoint makes of request fields. `envelope` is the form of its refusals."""

    refused: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    envelope: str = "openai"  # openai, fastapi, google, plain
    most_scores: int = 20
    clamps_scores: bool = False
    stream: str = "both"  # both, only, never
    most_choices: int = 4
    seed_field: str = "seed"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One simulated endpoint. Its model's name always begins with `simulated-`."""

    name: str
    model: str = "simulated-small"
    seed: int = 1
    phases: tuple[Phase, ...] = (Phase(0.0, Version()),)
    ties: int = 3
    first_tie: int = 6
    rhythm: float = 0.0  # flips vary by this share of their rate over the day
    peak_hour: float = 15.0  # UTC
    storms: tuple[Storm, ...] = ()
    latency_ms: float = 0.0
    token_ms: float = 0.0
    api_key: str = ""
    support: Support = field(default_factory=Support)
    case: str = ""  # the number of a known trap, such as b21
    about: str = ""

    def __post_init__(self) -> None:
        if not self.model.startswith(MARK):
            object.__setattr__(self, "model", MARK + self.model)


def load(path: Path) -> Scenario:
    """Reads a scenario from YAML or JSON. Raises `ScenarioError`."""
    try:
        value = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise ScenarioError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise ScenarioError(f"{path} must hold a mapping of scenario fields.")
    return from_mapping({"name": path.stem, **value})


def from_mapping(value: Mapping[str, Any]) -> Scenario:
    """A scenario from plain data. Unknown fields are errors, so that a typing mistake is not a quiet no-op."""
    plain = dict(value)
    if "phases" in plain:
        plain["phases"] = tuple(_phase(item) for item in _list(plain["phases"], "phases"))
    if "storms" in plain:
        plain["storms"] = tuple(_build(Storm, item, "storms") for item in _list(plain["storms"], "storms"))
    if "support" in plain:
        support = dict(plain["support"])
        for name in ("refused", "ignored"):
            support[name] = tuple(support.get(name, ()))
        plain["support"] = _build(Support, support, "support")
    built: Scenario = _build(Scenario, plain, "scenario")
    return built


def with_seed(scenario: Scenario, seed: int | None) -> Scenario:
    return scenario if seed is None else replace(scenario, seed=seed)


def _phase(value: Any) -> Phase:
    plain = dict(value)
    version = dict(plain.get("version", {}))
    if "fingerprints" in version:
        prints = version["fingerprints"]
        pairs = prints.items() if isinstance(prints, dict) else ((name, 1.0) for name in prints)
        version["fingerprints"] = tuple((name, float(weight)) for name, weight in pairs)
    plain["version"] = _build(Version, version, "version")
    built: Phase = _build(Phase, {"at_s": 0.0, **plain}, "phases")
    return built


def _build(kind: Any, value: Mapping[str, Any], where: str) -> Any:
    known = {item.name for item in fields(kind)}
    unknown = sorted(set(value) - known)
    if unknown:
        raise ScenarioError(f"{where}: unknown field '{unknown[0]}'. Known: {', '.join(sorted(known))}.")
    try:
        return kind(**value)
    except TypeError as error:
        raise ScenarioError(f"{where}: {error}") from None


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ScenarioError(f"{where} must be a list.")
    return value
