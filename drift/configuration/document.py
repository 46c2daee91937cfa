"""What a configuration file can say. Names are the keys: they are how one file speaks of one thing twice."""

from __future__ import annotations

from datetime import time
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from drift import entered
from drift.answers import ApiKind, Transport
from drift.configuration.references import Reference
from drift.findings.kinds import Severity


def _named(value: str) -> str:
    return entered.text(value, most=80, least=1, what="name")


def _plain_number(value: Any) -> Any:
    return str(value) if isinstance(value, float) else value


def _canonical(value: Decimal) -> Decimal:
    return Decimal(f"{value.normalize():f}")


Name = Annotated[str, AfterValidator(_named)]
Price = Annotated[
    Decimal, BeforeValidator(_plain_number), Field(ge=0, lt=1_000_000, decimal_places=6), AfterValidator(_canonical)
]


class Said(BaseModel):
    """A part of the file. A field it does not know is a mistake, not a wish."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class EndpointSaid(Said):
    name: Name
    base_url: Annotated[str, AfterValidator(entered.base_url)]
    model: Annotated[str, Field(min_length=1, max_length=200)]
    api_key: Reference | None = None
    provider: Annotated[str, Field(max_length=80)] = ""
    tags: Annotated[list[str], AfterValidator(entered.tags)] = []
    parameters: Annotated[dict[str, Any], AfterValidator(entered.parameters)] = {
        "temperature": 0,
        "seed": 42,
        "logprobs": True,
        "top_logprobs": 2,
    }
    kind: ApiKind = ApiKind.CHAT
    transport: Transport = Transport.WHOLE
    max_concurrency: Annotated[int, Field(ge=1, le=256)] = 16
    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    deadline_s: Annotated[float, Field(gt=0, le=600)] = 120.0
    price_in: Price | None = None
    price_out: Price | None = None


class CanarySaid(Said):
    """`prompt` is short for one user message."""

    name: Name
    messages: Annotated[list[dict[str, Any]], AfterValidator(entered.messages)]
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)]

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, value: Any) -> Any:
        if isinstance(value, dict) and "prompt" in value and "messages" not in value:
            rest = {key: item for key, item in value.items() if key != "prompt"}
            return {**rest, "messages": [{"role": "user", "content": value["prompt"]}]}
        return value


class SuiteSaid(Said):
    name: Name
    retention_days: Annotated[int, Field(ge=1, le=36_500)] = 400
    canaries: Annotated[list[CanarySaid], Field(min_length=1, max_length=500)]


class MonitorSaid(Said):
    """Endpoint and suite by name; always the suite's latest version."""

    endpoint: Name
    suite: Name
    cadence_s: Annotated[int, Field(ge=30, le=604_800)] = 300
    repeats: Annotated[int, Field(ge=1, le=100)] = 5
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    tokens_per_day: Annotated[int, Field(ge=0)] | None = None
    active: bool = True

    @property
    def name(self) -> str:
        return f"{self.endpoint} × {self.suite}"


class ChannelSaid(Said):
    name: Name
    kind: Literal["email", "slack", "webhook"]
    address: Reference
    signing_secret: Reference | None = None
    least_severity: Severity = Severity.MEDIUM
    providers: list[Annotated[str, Field(max_length=80)]] = []
    tags: list[Annotated[str, Field(max_length=40)]] = []
    quiet_from: time | None = None
    quiet_to: time | None = None
    time_zone: str = "UTC"
    language: Literal["en", "zh-hans"] = "en"
    severe_breaks_quiet: bool = True
    weekly_summary: bool = False

    @model_validator(mode="after")
    def _whole_night(self) -> ChannelSaid:
        if (self.quiet_from is None) != (self.quiet_to is None):
            raise ValueError("quiet_from and quiet_to go together")
        return self


class RulesSaid(Said):
    false_alarms: Annotated[float, Field(gt=0, le=1000)] = 1.0
    period: Literal["week", "month", "quarter", "year"] = "quarter"
    reminder_hours: Annotated[int, Field(ge=0, le=10_000)] = 24

    @property
    def name(self) -> str:
        return "alert rules"


class Document(Said):
    """A whole file. What it leaves out is left as it is."""

    tidegauge: Literal[1] = 1
    endpoints: list[EndpointSaid] = []
    suites: list[SuiteSaid] = []
    monitors: list[MonitorSaid] = []
    channels: list[ChannelSaid] = []
    rules: RulesSaid | None = None

    @model_validator(mode="after")
    def _names_once(self) -> Document:
        for part in ("endpoints", "suites", "monitors", "channels"):
            names = [one.name for one in getattr(self, part)]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"{part}: {', '.join(twice)} comes twice")
        return self
