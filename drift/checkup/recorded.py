"""Answers made elsewhere, from a file: the same report without a single request."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from drift.answers import Decoded, FingerprintState, IdentityFacts, Outcome, ScoredToken, Usage
from drift.checkup import store
from drift.checkup.errors import CheckupError
from drift.checkup.packed import pack
from drift.display import visible
from drift.evals.errors import FileError
from drift.evals.lines import LARGEST_FILE, rows_of
from drift.models import Checkup, CheckupAnswer, CheckupStage, Team, User

MOST_MODELS = 50
READ = 1  # what read the file, as decoders are numbered
TEXTS = ("text", "response", "answer", "output", "completion")
ITEMS = ("item", "case", "question", "prompt", "id", "canary")
RUNS = ("run", "epoch", "repeat", "round")
MODELS = ("model", "model_id", "endpoint", "arm")
TIMES = ("time", "created", "timestamp", "started_at")
FINGERPRINTS = ("fingerprint", "system_fingerprint")


@dataclass(slots=True)
class Recording:
    """The answers of one model: (item, run, when, answer)."""

    model: str
    answers: list[tuple[str, int, datetime, Decoded]] = field(default_factory=list)
    runs: Counter[tuple[str, int]] = field(default_factory=Counter)


def bring_in(team: Team, user: User | None, name: str, data: bytes) -> list[Checkup]:
    """One finished check-up per model in the file, as they appear. Raises CheckupError, and keeps nothing then."""
    try:
        recordings = read(name, data)
    except FileError as error:
        raise CheckupError(str(error)) from error
    group = uuid4()
    with transaction.atomic():
        return [keep(team, user, one, group, PurePath(name).name) for one in recordings]


def read(name: str, data: bytes) -> list[Recording]:
    """The answers in a JSONL or CSV file, gzipped or not, by model. Raises FileError and CheckupError."""
    name, data = unpacked(name, data)
    found: dict[str, Recording] = {}
    for line, row in rows_of(name, data):
        recording = found.setdefault(_model(row), Recording(_model(row)))
        if len(found) > MOST_MODELS:
            raise CheckupError(
                gettext("The file speaks of more than {most_models} models. Is 'model' the right column?").format(
                    most_models=MOST_MODELS
                )
            )
        item, text = _item(row, line), _first(row, TEXTS)
        if text is None:
            raise FileError(gettext("no answer: expected one of {join}").format(join=", ".join(TEXTS)), line)
        run = _run(row, recording, item)
        recording.answers.append((item, run, _time(row, line), _decoded(row, str(text), line)))
    if not found:
        raise CheckupError(gettext("The file holds no answer."))
    return list(found.values())


def unpacked(name: str, data: bytes) -> tuple[str, bytes]:
    """Name and bytes of the file inside a .gz; those of any other file as they are. Raises CheckupError."""
    if not (name.lower().endswith(".gz") or data[:2] == b"\x1f\x8b"):
        return name, data
    try:
        with gzip.open(io.BytesIO(data)) as file:
            whole = file.read(LARGEST_FILE + 1)
    except (OSError, EOFError) as error:
        raise CheckupError(gettext("This .gz file cannot be unpacked: {error}.").format(error=error)) from error
    if len(whole) > LARGEST_FILE:
        raise CheckupError(
            gettext("Unpacked, the file is larger than {largest_file} MB. Split it.").format(
                largest_file=LARGEST_FILE // 2**20
            )
        )
    return name.removesuffix(".gz"), whole


def _model(row: Mapping[str, Any]) -> str:
    return visible(str(_first(row, MODELS) or gettext("not named")))[:200]


def _item(row: Mapping[str, Any], line: int) -> str:
    item = _first(row, ITEMS)
    if item is None:
        raise FileError(gettext("no item: expected one of {join}").format(join=", ".join(ITEMS)), line)
    task = row.get("task")
    return visible(f"{task} {item}" if task else str(item))[:200]


def _run(row: Mapping[str, Any], recording: Recording, item: str) -> int:
    """The number given, if it is one and new for this item; else the next free one."""
    given = _first(row, RUNS)
    number = int(given) if given is not None and str(given).isdecimal() and int(given) < 1_000_000 else 0
    while recording.runs[item, number]:
        number += 1
    recording.runs[item, number] += 1
    return number


def _time(row: Mapping[str, Any], line: int) -> datetime:
    """When it was answered; 1970 where the file does not say, which keeps the file's order."""
    given = _first(row, TIMES)
    if given in (None, ""):
        return datetime.fromtimestamp(line / 1000, UTC)
    try:
        if isinstance(given, int | float) or str(given).replace(".", "", 1).isdecimal():
            return datetime.fromtimestamp(float(given), UTC)
        found = datetime.fromisoformat(str(given))
    except (ValueError, OverflowError, OSError):
        raise FileError(
            gettext("not a time: {given}; use ISO 8601 or Unix seconds").format(given=f"{given!r}"), line
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _decoded(row: Mapping[str, Any], text: str, line: int) -> Decoded:
    pieces, scores = _list(row.get("tokens"), line), _list(row.get("logprobs"), line)
    tokens = None
    if pieces is not None:
        values = scores if scores is not None and len(scores) == len(pieces) else [None] * len(pieces)
        tokens = tuple(
            ScoredToken(str(piece).encode("utf-8", "surrogatepass"), _number(value))
            for piece, value in zip(pieces, values, strict=True)
        )
    fingerprint = _first(row, FINGERPRINTS)
    named = fingerprint not in (None, "")
    return Decoded(
        version=READ,
        outcome=Outcome.TEXT if text.strip() else Outcome.EMPTY,
        text=text,
        finish=str(row.get("finish") or "unknown"),
        tokens=tokens,
        usage=Usage(completion_tokens=len(tokens) if tokens else None),
        identity=IdentityFacts(
            fingerprint_state=FingerprintState.VALUE if named else FingerprintState.ABSENT,
            fingerprint=visible(str(fingerprint))[:300] if named else "",
        ),
    )


def _list(value: Any, line: int) -> list[Any] | None:
    """A list, also one written as JSON in a cell."""
    if value in (None, ""):
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise FileError(gettext("tokens and logprobs must be lists"), line) from None
    if not isinstance(value, list):
        raise FileError(gettext("tokens and logprobs must be lists"), line)
    return value


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value == value else None


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def keep(team: Team, user: User | None, one: Recording, group: UUID, file: str) -> Checkup:
    """Stores the answers of one model as a finished check-up with its report."""
    now = timezone.now()
    times = [at for _, _, at, _ in one.answers]
    most = max(Counter(item for item, _, _, _ in one.answers).values())
    checkup = Checkup.objects.create(
        team=team,
        name=one.model,
        origin=Checkup.Origin.RECORDED,
        group=group,
        repeats=min(max(most, 2), 200),
        requested_by=user,
        state=Checkup.State.FINISHED,
        started_at=min(times) if min(times).year > 1970 else now,
        finished_at=now,
        wanted=len(one.answers),
        answered=len(one.answers),
        questions={item: {"name": item, "messages": []} for item, _, _, _ in one.answers},
    )
    stage = CheckupStage.objects.create(
        checkup=checkup,
        position=0,
        kind=CheckupStage.Kind.RECORDED,
        max_tokens=max((len(d.tokens) for _, _, _, d in one.answers if d.tokens), default=100_000),
        repeats=min(most, 32_000),
        finished_at=now,
        note=visible(gettext("from {file}").format(file=file))[:200],
    )
    CheckupAnswer.objects.bulk_create(_rows(stage, one), batch_size=1000)
    store.make_report(checkup)
    return checkup


def _rows(stage: CheckupStage, one: Recording) -> Iterator[CheckupAnswer]:
    for item, run, at, decoded in one.answers:
        yield CheckupAnswer(
            stage=stage,
            question=item,
            repeat=run,
            outcome=decoded.outcome,
            started_at=at,
            completion_tokens=decoded.usage.completion_tokens,
            request=b"",
            raw=decoded.compared.encode("utf-8", "surrogatepass"),
            decoded=pack(decoded),
        )
