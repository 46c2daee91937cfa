"""A team's false-alarm budget, shared out over everything that is watched."""

from __future__ import annotations

from django.utils.translation import ngettext

from drift.findings.evidence import Limits
from drift.measure.budget import Budget, allot
from drift.models import AlertRules, Monitor, Series, Team

STATISTICS = 3  # answers, mix, log probabilities: each can raise an alarm of its own
USUAL_CADENCE_S = 300


def budget_of(team: Team | int) -> Budget:
    """The team's budget; one false alarm a quarter where nobody chose."""
    pk = team if isinstance(team, int) else team.pk
    rules = AlertRules.objects.filter(team=pk).first() or AlertRules(team_id=pk)
    return Budget(rules.false_alarms, rules.period)


def in_words(budget: Budget) -> str:
    """'at most one false alarm a quarter'."""
    number = 1 if budget.false_alarms == 1 else 2  # fractions are plural
    pattern = {
        "week": ngettext("at most one false alarm a week", "at most {number} false alarms a week", number),
        "month": ngettext("at most one false alarm a month", "at most {number} false alarms a month", number),
        "quarter": ngettext("at most one false alarm a quarter", "at most {number} false alarms a quarter", number),
        "year": ngettext("at most one false alarm a year", "at most {number} false alarms a year", number),
    }[budget.period]
    return pattern.format(number=f"{budget.false_alarms:g}")


def limits_of(series: Series) -> Limits:
    """The thresholds of one series: every active monitor of the team has an equal share."""
    team = series.endpoint.team_id
    rows = Monitor.objects.filter(endpoint__team=team, active=True).values_list("endpoint_id", "suite_id", "cadence_s")
    cadences = {(endpoint, suite): cadence for endpoint, suite, cadence in rows}
    own = cadences.pop((series.endpoint_id, series.suite_id), USUAL_CADENCE_S)
    looks = [3600 / cadence for cadence in (own, *cadences.values()) for _ in range(STATISTICS)]
    share = allot(budget_of(team), looks)[0]
    return Limits(share.threshold, share.threshold, share.threshold, share.miss)
