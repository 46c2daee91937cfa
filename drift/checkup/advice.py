"""The settings to use with an endpoint, each with the measurement behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext

from drift import figures
from drift.checkup import words
from drift.measure.identity import IdentityKind

if TYPE_CHECKING:
    from drift.checkup.report import Report

EVAL_REPEATS = 5


@dataclass(frozen=True, slots=True)
class Setting:
    """`value` in a word or two; `why` in a sentence."""

    name: str
    value: str
    why: str


def settings(report: Report) -> tuple[Setting, ...]:
    """Only what to do about a cache where nothing comparable came."""
    cache = [
        Setting(gettext("cache"), gettext("bypass it"), gettext("Answers out of a cache hide what the model does."))
    ]
    if report.quiet is None or report.quiet.divergence is None:
        return tuple(cache) if report.caching.cached else ()
    parts = (_temperature, _seed, _cap, _repeats, _load, _identity)
    found: list[Setting | None] = [part(report) for part in parts]
    if report.caching.cached:
        found += cache
    if report.prefix is not None and report.prefix.excess is not None and report.prefix.excess.low > 0:
        found.append(
            Setting(
                gettext("first answer"),
                gettext("throw away"),
                gettext("A cold prefix gives another answer than a warm one."),
            )
        )
    return tuple(one for one in found if one is not None)


def _temperature(report: Report) -> Setting | None:
    if report.recorded:
        return None
    word = report.greedy.word
    if report.asked.get("temperature") is None:
        return Setting(gettext("temperature"), gettext("leave out"), gettext("The endpoint does not take 0."))
    why = {
        "greedy": gettext("Every token was the best by its own scores."),
        "close_calls": gettext(
            "Greedy but for close calls: other tokens were taken only where two were nearly as likely."
        ),
        "samples": gettext("Careful: it takes worse tokens than its best even at 0, so it still samples."),
    }.get(word, gettext("It accepts 0; without scores it cannot be seen whether it then takes the best token."))
    return Setting(gettext("temperature"), "0", why)


def _seed(report: Report) -> Setting | None:
    seed = report.seed
    if report.recorded:
        return None
    if seed.word == "refused":
        return Setting(gettext("seed"), gettext("leave out"), gettext("It is refused."))
    if seed.word in ("lowers", "repeats"):
        return Setting(gettext("seed"), gettext("fix one"), words.seed_in_words(report))
    if seed.word in ("ignored", "no_effect"):
        return Setting(gettext("seed"), gettext("no use"), words.seed_in_words(report))
    return Setting(gettext("seed"), gettext("not known"), gettext("Whether it does anything could not be told."))


def _cap(report: Report) -> Setting:
    limit = report.quiet.horizon if report.quiet else None
    if limit is None or limit.recommended_cap is None:
        return Setting(gettext("cap"), gettext("none helps"), gettext("Not even the first token is sure to repeat."))
    unit = figures.token_word(limit.recommended_cap, report.quiet is not None and report.quiet.tokens_known)
    why = (
        gettext("Answers up to here repeat with 95 %; the lower end of the measured horizon.")
        if limit.limit_seen
        else gettext("The longest that was measured: no answer parted before.")
    )
    return Setting(gettext("cap"), f"{limit.recommended_cap} {unit}", why)


def _repeats(report: Report) -> Setting:
    if report.quiet is not None and report.quiet.pairs_differing:
        return Setting(
            gettext("answers per eval case"),
            gettext("{eval_repeats} or more").format(eval_repeats=EVAL_REPEATS),
            gettext("One answer may differ from the next."),
        )
    return Setting(
        gettext("answers per eval case"),
        gettext("1 would do"),
        gettext("No answer differed, under the conditions measured here."),
    )


def _load(report: Report) -> Setting | None:
    moving = [one.concurrency for one in report.under_load if one.matters]
    if not report.under_load:
        return None
    if moving:
        return Setting(
            gettext("baselines"),
            gettext("at working load"),
            gettext("Answers change from {min} in flight on.").format(min=min(moving)),
        )
    last = report.under_load[-1].concurrency
    return Setting(
        gettext("baselines"),
        gettext("at any load"),
        gettext("No difference was seen up to {last} in flight.").format(last=last),
    )


def _identity(report: Report) -> Setting:
    kind = IdentityKind(report.identities.kind)
    value = {
        IdentityKind.CONSTANT: gettext("watch the name"),
        IdentityKind.STABLE_SET: gettext("watch the set"),
        IdentityKind.CHURNING: gettext("watch answers only"),
        IdentityKind.ABSENT: gettext("watch answers only"),
        IdentityKind.UNKNOWN: gettext("watch both"),
    }[kind]
    return Setting(gettext("changes"), value, report.identities.tells)
