"""Files of recorded answers: small ones are read at once, large ones by a worker, model by model."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_noop

from drift.checkup.errors import CheckupError
from drift.checkup.recorded import Recording, bring_in, keep, read, unpacked
from drift.claims import MOST_ATTEMPTS, Claims, lease
from drift.display import visible
from drift.evals.errors import FileError
from drift.models import AnswerFile, Checkup, Team, User
from drift.said import said, shown

AT_ONCE_UP_TO = 1024 * 1024  # bytes, unpacked: about a second's work
State = AnswerFile.State
claims = Claims(AnswerFile, ("team", "requested_by"), waits=False)


def bring(team: Team, user: User | None, name: str, data: bytes) -> AnswerFile | list[Checkup]:
    """The check-ups that a small file became, or a large file that a worker will read. Raises CheckupError."""
    plain_name, plain = unpacked(name, data)
    if len(plain) <= AT_ONCE_UP_TO:
        return bring_in(team, user, plain_name, plain)
    return AnswerFile.objects.create(team=team, requested_by=user, name=visible(name)[:200], raw=data)


def claim(pk: int, now: datetime) -> tuple[AnswerFile, UUID] | None:
    return claims.take(pk, now, _begin)


def _begin(row: AnswerFile) -> None:
    row.problem = ""


def make(row: AnswerFile, token: UUID, now: datetime) -> None:
    """Reads the file and stores what it holds, each model whole; those that are there already are passed over.

    Stops quietly when the claim is lost: who took it over goes on. A mistake in the file ends it with the line.
    """
    try:
        recordings = read(row.name, bytes(row.raw))
    except (FileError, CheckupError) as error:
        end(row, token, now, State.FAILED, str(error))
        return
    total = sum(len(one.answers) for one in recordings)
    if not claims.renew(row, token, now, answers=total):
        return
    known = set(Checkup.objects.filter(group=row.group).values_list("name", flat=True))
    if all(one.model in known or _store(row, token, one) for one in recordings):
        end(row, token, now, State.FINISHED)


def _store(row: AnswerFile, token: UUID, one: Recording) -> bool:
    """One model's check-up and the progress, in one transaction. False, and nothing stored, if the claim is lost."""
    with transaction.atomic():
        held = claims.held(row, token).select_for_update(of=("self",)).first()
        if held is None:
            return False
        made = keep(row.team, row.requested_by, one, row.group, row.name)
        held.answers_done += len(one.answers)
        held.attempts = 0
        held.lease_until = (made.finished_at or made.created_at) + lease()
        held.save(update_fields=["answers_done", "attempts", "lease_until"])
    return True


def put_back(row: AnswerFile, token: UUID, now: datetime, why: str) -> None:
    """Ends a claim with work left: due again, failed after `MOST_ATTEMPTS` that stored nothing."""
    if row.attempts >= MOST_ATTEMPTS:
        end(row, token, now, State.FAILED, why)
        return
    claims.let_go(row, token, State.DUE, published_at=None, problem=shown(why, 2000))


def end(row: AnswerFile, token: UUID, now: datetime, state: str, why: str = "") -> bool:
    return claims.let_go(row, token, state, finished_at=now, problem=shown(why, 2000), raw=b"")


def reap(now: datetime) -> int:
    """Puts files back whose worker is gone; returns how many."""
    back = claims.reap(
        now,
        said(gettext_noop("its worker ended before it had read the file, again and again")),
        said(gettext_noop("its worker ended; taken up again")),
    )
    AnswerFile.objects.filter(state=State.FAILED).exclude(raw=b"").update(raw=b"")
    return back


def to_publish(now: datetime) -> list[int]:
    return claims.to_publish(now, 10, ("created_at",))


def made_of(row: AnswerFile) -> list[Checkup]:
    """The check-ups there are of it, as the file names them."""
    return list(Checkup.objects.filter(team=row.team_id, group=row.group).order_by("pk"))
