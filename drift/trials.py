"""Replays and dry runs: begun by a person, sent by a worker, read on a page. They enter no series and no figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from drift.answers import Ask, Decoded, Exchange
from drift.checkup.packed import pack, unpack, without_reasoning
from drift.claims import MOST_ATTEMPTS, Claims
from drift.costs import cost_of
from drift.display import visible, visible_json
from drift.entered import EntryError
from drift.models import Endpoint, Sample, Suite, Trial, TrialAnswer, User
from drift.redecode import exchange_of
from drift.suites import CanaryText

MOST_REQUESTS = 200
State = Trial.State
claims = Claims(Trial, ("endpoint__team", "series__endpoint"))


@dataclass(frozen=True, slots=True)
class Draft:
    """A suite as it would be saved."""

    name: str
    retention_days: int
    canaries: tuple[CanaryText, ...]

    def as_json(self) -> dict[str, Any]:
        canaries = [{"name": c.name, "messages": c.messages, "max_tokens": c.max_tokens} for c in self.canaries]
        return {"name": self.name, "retention_days": self.retention_days, "canaries": canaries}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Draft:
        return cls(value["name"], value["retention_days"], tuple(CanaryText(**one) for one in value["canaries"]))


def replay(sample: Sample, user: User | None, now: datetime) -> Trial:
    """Asks for the sample's exact request to be sent again. One that waits already is returned instead of a second.

    What was received then is copied, so that the result can be read when the sample is no longer kept.
    """
    endpoint = sample.series.endpoint
    if endpoint.archived_at is not None:
        raise EntryError(
            gettext("{endpoint} is archived: bring it back before asking it anything.").format(endpoint=endpoint.name)
        )
    with transaction.atomic():
        Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        waiting = Trial.objects.filter(sample=sample.public_id, state__in=[State.DUE, State.RUNNING]).first()
        if waiting is not None:
            return waiting
        trial = Trial.objects.create(
            team=endpoint.team,
            kind=Trial.Kind.REPLAY,
            endpoint=endpoint,
            name=sample.canary.name,
            series=sample.series,
            canary=sample.canary,
            sample=sample.public_id,
            requested_by=user,
            requested_at=now,
        )
        then = TrialAnswer(trial=trial, position=0, former=True, name=sample.canary.name)
        _fill(then, exchange_of(sample))
        again = TrialAnswer(trial=trial, position=0, name=sample.canary.name, request=sample.request)
        TrialAnswer.objects.bulk_create([then, again])
    return trial


def dry_run(
    endpoint: Endpoint, draft: Draft, suite: Suite | None, repeats: int, user: User | None, now: datetime
) -> Trial:
    """Asks for the canaries of `draft` that `suite` does not have to be sent `repeats` times. Raises EntryError."""
    known = {_text_key(one.name, one.messages, one.max_tokens) for one in suite.canaries.all()} if suite else set()
    fresh = [one for one in draft.canaries if _text_key(one.name, one.messages, one.max_tokens) not in known]
    if not fresh:
        raise EntryError(gettext("No canary is new or changed, so there is nothing to try."))
    if len(fresh) * repeats > MOST_REQUESTS:
        raise EntryError(
            gettext("That is {wanted} requests; a dry run sends at most {most}.").format(
                wanted=len(fresh) * repeats, most=MOST_REQUESTS
            )
        )
    with transaction.atomic():
        trial = Trial.objects.create(
            team=endpoint.team,
            kind=Trial.Kind.DRY_RUN,
            endpoint=endpoint,
            name=draft.name,
            suite=suite,
            draft=draft.as_json(),
            requested_by=user,
            requested_at=now,
        )
        TrialAnswer.objects.bulk_create(
            TrialAnswer(
                trial=trial,
                position=position,
                repeat=repeat,
                name=one.name,
                messages=one.messages,
                max_tokens=one.max_tokens,
            )
            for position, one in enumerate(fresh)
            for repeat in range(repeats)
        )
    return trial


def _text_key(name: str, messages: list[dict[str, Any]], max_tokens: int) -> str:
    return CanaryText(name, messages, max_tokens).key()


def ask_of(row: TrialAnswer) -> Ask:
    """What a draft's canary asks."""
    return Ask(tuple(row.messages or ()), row.max_tokens or 1)


def former_exchange(trial: Trial, row: TrialAnswer) -> Exchange:
    """The stored answer that a replay repeats, as it was received, to be read by the decoder of today."""
    if trial.series is None or row.started_at is None or row.latency_ms is None:
        raise ValueError(f"trial {trial.pk} replays nothing")
    stored = Sample(
        series=trial.series, request=row.request, started_at=row.started_at, latency_ms=row.latency_ms,
        http_status=row.http_status, headers=row.headers, raw=row.raw, transport_error=row.transport_error,
        error_message=row.error_message,
    )  # fmt: skip
    return exchange_of(stored)


def decoded_of(row: TrialAnswer) -> Decoded | None:
    """The answer as it was read; None before it came."""
    return unpack(bytes(row.decoded)) if row.decoded is not None else None


def claim(trial_id: int, now: datetime) -> tuple[Trial, UUID] | None:
    """Takes a due trial for this worker; None if it is not due (any more)."""
    return claims.take(trial_id, now, _begin)


def _begin(trial: Trial) -> None:
    trial.problem = ""


def renew(trial: Trial, token: UUID, now: datetime) -> bool:
    """Prolongs the claim. False if it is lost."""
    return claims.renew(trial, token, now)


def store(trial: Trial, token: UUID, row: TrialAnswer, exchange: Exchange, decoded: Decoded) -> bool:
    """Writes one answer. False, and nothing written, if the claim is lost."""
    with transaction.atomic():
        if not claims.held(trial, token).select_for_update().exists():
            return False
        _fill(row, exchange)
        row.outcome = decoded.outcome
        row.error_message = visible(decoded.error_message or exchange.error_detail)[:4000]
        row.prompt_tokens = decoded.usage.prompt_tokens
        row.completion_tokens = decoded.usage.completion_tokens
        row.cost = cost_of(trial.endpoint, decoded.usage)
        row.decoded = pack(without_reasoning(decoded))
        row.save()
    return True


def end(trial: Trial, token: UUID, now: datetime, problem: str = "") -> bool:
    """Ends it: failed where a problem is named. False if the claim is lost."""
    state = State.FAILED if problem else State.FINISHED
    return claims.let_go(trial, token, state, finished_at=now, problem=visible(problem)[:2000])


def wait(trial: Trial, token: UUID, now: datetime, why: str, after: timedelta) -> None:
    """Puts it back because the endpoint cannot be asked now. After `MOST_ATTEMPTS` it has failed, with the reason."""
    if trial.attempts >= MOST_ATTEMPTS:
        end(trial, token, now, why)
        return
    claims.let_go(trial, token, State.DUE, not_before=now + after, published_at=None, problem=visible(why)[:2000])


def reap(now: datetime) -> int:
    """Puts trials back whose worker is gone; returns how many."""
    return claims.reap(now, given_up=gettext("its worker ended before it did"), again="")


def to_publish(now: datetime, limit: int = 100) -> list[int]:
    """Ids of trials that are due and were not handed to a worker lately; marks them as handed over."""
    return claims.to_publish(now, limit, ("requested_at",))


def open_answers(trial: Trial) -> Sequence[TrialAnswer]:
    """What has not been asked, or read, yet."""
    return list(trial.answers.filter(decoded__isnull=True))


def _fill(row: TrialAnswer, exchange: Exchange) -> None:
    row.request = exchange.request_body
    row.started_at = exchange.started_at
    row.latency_ms = exchange.latency_ms
    row.http_status = exchange.status
    row.transport_error = exchange.transport_error or ""
    row.headers = visible_json(dict(exchange.headers))
    row.raw = exchange.body
    if exchange.transport_error:
        row.error_message = visible(exchange.error_detail)[:4000]
