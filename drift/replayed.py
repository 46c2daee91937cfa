"""What a replay brought: the old answer and the new one by their tokens, and who gave each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drift.answers import COMPARABLE, Decoded, FingerprintState, IdentityFacts
from drift.canary_answers import Beside, beside
from drift.display import visible
from drift.measure.agreement import split_text
from drift.models import Trial, TrialAnswer
from drift.trials import decoded_of


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing an endpoint says of itself, then and now. '' where it said nothing."""

    name: str
    then: str
    now: str

    @property
    def differs(self) -> bool:
        return self.then != self.now


@dataclass(frozen=True, slots=True)
class Replayed:
    """`pair` is None where one of the two is no answer that can be compared."""

    then: TrialAnswer
    now: TrialAnswer
    pair: Beside | None
    tokens_known: bool
    claims: tuple[Claim, ...]
    batches_then: tuple[int, ...]
    batches_now: tuple[int, ...]

    @property
    def same_identity(self) -> bool:
        return not any(claim.differs for claim in self.claims)


def replayed(trial: Trial) -> Replayed | None:
    """The result of a replay; None until both answers have been read."""
    rows = {row.former: row for row in trial.answers.all()}
    then, now = decoded_of(rows[True]), decoded_of(rows[False])
    if then is None or now is None:
        return None
    known = then.tokens is not None and now.tokens is not None
    comparable = then.outcome in COMPARABLE and now.outcome in COMPARABLE
    return Replayed(
        then=rows[True],
        now=rows[False],
        pair=beside(_pieces(then, known), _pieces(now, known)) if comparable else None,
        tokens_known=known,
        claims=_claims(then, now),
        batches_then=tuple(then.batch_sizes or ()),
        batches_now=tuple(now.batch_sizes or ()),
    )


def text_of(row: TrialAnswer) -> str:
    """The answer as safe text; '' where there is none."""
    decoded = decoded_of(row)
    return _safe(decoded) if decoded is not None and decoded.outcome in COMPARABLE else ""


def _safe(decoded: Decoded) -> str:
    return visible(decoded.compared.replace("\x1e", "\n"))


def _pieces(decoded: Decoded, known: bool) -> Sequence[str | bytes]:
    if known:
        return [token.text for token in decoded.tokens or ()]
    return split_text(_safe(decoded))


def _claims(then: Decoded, now: Decoded) -> tuple[Claim, ...]:
    """Every claim that either of the two made."""
    sides = [_facts(one) for one in (then, now)]
    pairs = [(name, sides[0][name], sides[1][name]) for name in sides[0]]
    return tuple(Claim(name, was, came) for name, was, came in pairs if was or came)


def _facts(decoded: Decoded) -> dict[str, str]:
    facts = decoded.identity
    prompt = decoded.usage.prompt_tokens
    return {
        "model": visible(facts.model_echo or ""),
        "fingerprint": _fingerprint(facts),
        "upstream": visible(facts.upstream),
        "region": visible(facts.region),
        "prompt_tokens": "" if prompt is None else str(prompt),
    }


def _fingerprint(facts: IdentityFacts) -> str:
    if facts.fingerprint_state == FingerprintState.VALUE:
        return visible(facts.fingerprint)
    return "" if facts.fingerprint_state == FingerprintState.ABSENT else facts.fingerprint_state.value
