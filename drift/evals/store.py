"""Sets and versions as rows, and rows as cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext

from drift.display import visible, visible_json
from drift.evals import graders
from drift.evals.case import Case
from drift.evals.errors import EvalError
from drift.models import EvalCase, EvalSet, EvalVersion, Team, User


def save_version(
    *,
    team: Team,
    name: str,
    cases: Sequence[Case],
    grader_descriptions: Sequence[Mapping[str, Any]] = (),
    template: str = "",
    templates: Sequence[str] = (),
    repeats: int = 5,
    source: str = "",
    user: User | None = None,
) -> EvalVersion:
    """Stores the cases as the next version of the set of that name, which is made if it is new.

    Raises EvalError where a case would have no grader, or a grader makes no sense.
    """
    if not cases:
        raise EvalError(gettext("a set needs at least one case"))
    for description in grader_descriptions:
        graders.make(description)
    for case in cases:
        for description in case.graders:
            graders.make(description)
        if not case.graders and not grader_descriptions:
            raise EvalError(gettext("case {key} has no grader: pick one for the set").format(key=case.key))
    with transaction.atomic():
        eval_set, _ = EvalSet.objects.get_or_create(team=team, name=name, archived_at=None)
        EvalSet.objects.select_for_update().get(pk=eval_set.pk)
        last = eval_set.versions.aggregate(last=Max("number"))["last"] or 0
        version = EvalVersion.objects.create(
            eval_set=eval_set,
            number=last + 1,
            template=visible(template),
            templates=[visible(text) for text in templates],
            graders=visible_json(list(grader_descriptions)),
            repeats=repeats,
            source=visible(source)[:200],
            created_by=user,
        )
        EvalCase.objects.bulk_create([_row(version, i, case) for i, case in enumerate(cases)], batch_size=1000)
    return version


def _row(version: EvalVersion, position: int, case: Case) -> EvalCase:
    return EvalCase(
        version=version,
        position=position,
        key=visible(case.key)[:300],
        messages=visible_json([dict(message) for message in case.messages]),
        targets=visible_json(list(case.targets)),
        choices=visible_json(list(case.choices)),
        variables=visible_json(dict(case.variables)),
        graders=visible_json([dict(description) for description in case.graders]),
        threshold=case.threshold,
        repeats=case.repeats,
        cluster=visible(case.cluster)[:200],
        metadata=visible_json(dict(case.metadata)),
    )


def case_of(row: EvalCase) -> Case:
    return Case(
        key=row.key,
        messages=tuple(row.messages),
        targets=tuple(row.targets),
        choices=tuple(row.choices),
        variables=row.variables,
        graders=tuple(row.graders),
        threshold=row.threshold,
        repeats=row.repeats,
        cluster=row.cluster,
        metadata=row.metadata,
    )


def graders_of(row: EvalCase, version: EvalVersion) -> list[Mapping[str, Any]]:
    """The descriptions that judge a case: its own, else the set's."""
    return list(row.graders or version.graders)
