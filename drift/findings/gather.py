"""What one run says: its samples and decoded answers as evidence."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from drift.answers import Decoded, IdentityFacts, Outcome
from drift.display import visible
from drift.findings.evidence import Departure, Evidence
from drift.findings.names import Name
from drift.measure.logprob_drift import run_score
from drift.measure.rates import departure
from drift.models import Baseline, Identity, Output, Run, Sample

FAILED = frozenset(
    {
        Outcome.FAILED,
        Outcome.ERROR_BODY,
        Outcome.EMPTY_BODY,
        Outcome.NOT_JSON,
        Outcome.UNREADABLE,
        Outcome.THROTTLED,
        Outcome.HTTP_ERROR,
        Outcome.TIMEOUT,
        Outcome.UNREACHABLE,
        Outcome.REFUSED_ADDRESS,
        Outcome.BAD_ENCODING,
        Outcome.TRUNCATED_STREAM,
    }
)
GONE_CODES = frozenset({"model_not_found", "DeploymentNotFound", "model_not_available", "not_found_error"})
TOP = 20

Tops = dict[str, float | None]


def name_of_facts(facts: IdentityFacts) -> Name:
    return Name(
        visible(facts.model_echo)[:300] if facts.model_echo is not None else None,
        facts.fingerprint_state.value,
        visible(facts.fingerprint)[:300],
        visible(facts.upstream)[:200],
    )


def name_of(identity: Identity) -> Name:
    return Name(identity.model_echo, identity.fingerprint_state, identity.fingerprint, identity.upstream)


def evidence_of(run: Run, samples: Sequence[Sample], decoded: Sequence[Decoded], baseline: Baseline | None) -> Evidence:
    """The run's evidence. `decoded` are the readings of `samples`, in the same order."""
    failed = [sample for sample in samples if sample.outcome in FAILED]
    names = Counter(
        name_of_facts(read.identity).key() for sample, read in zip(samples, decoded, strict=True) if sample.identity_id
    )
    return Evidence(
        at=run.scheduled_for,
        answers=len(samples),
        comparable=sum(sample.output_id is not None for sample in samples),
        failed=len(failed),
        cached=sum(sample.outcome == Outcome.CACHED for sample in samples),
        model_gone=bool(failed) and all(sample.error_code in GONE_CODES for sample in failed),
        why=commonest(reason_of(sample) for sample in failed),
        names=names,
        prompt_tokens=prompt_tokens(samples),
        departure=departure_from(baseline, samples) if baseline else None,
        logprob_distance=_logprob_distance(baseline, first_tokens(samples, decoded)) if baseline else None,
        tie=int.from_bytes(hashlib.sha256(run.public_id.bytes).digest()[:6]) / 2**48,
    )


def reason_of(sample: Sample) -> str:
    """Why a sample failed, in the provider's own words where it gave some."""
    return sample.error_message[:200] or str(sample.outcome).replace("_", " ")


def commonest(reasons: Iterable[str]) -> str:
    counts = Counter(reasons).most_common(1)
    return counts[0][0] if counts else ""


def prompt_tokens(samples: Sequence[Sample]) -> dict[str, int | None]:
    """The prompt's length as each canary's answers reported it; None where they do not agree."""
    told: dict[str, set[int]] = {}
    for sample in samples:
        if sample.output_id and sample.prompt_tokens is not None:
            told.setdefault(str(sample.canary_id), set()).add(sample.prompt_tokens)
    return {canary: next(iter(values)) if len(values) == 1 else None for canary, values in told.items()}


def output_counts(samples: Sequence[Sample]) -> dict[str, Counter[str]]:
    """{canary: {output: warm comparable answers}}; the first answer counts where it is the only one asked for."""
    warm: dict[str, Counter[str]] = {}
    cold: dict[str, Counter[str]] = {}
    for sample in samples:
        if sample.output_id is not None:
            side = cold if sample.cold else warm
            side.setdefault(str(sample.canary_id), Counter())[str(sample.output_id)] += 1
    return {**cold, **warm}


def departure_from(baseline: Baseline, samples: Sequence[Sample]) -> Departure | None:
    """How many of the run's answers differ from the baseline's, raw and with white space evened out."""
    counts = output_counts(samples)
    if not counts or not baseline.reference:
        return None
    digests = whitespace_digests(output for each in counts.values() for output in each)
    raw = normalised = answers = 0.0
    for canary, outputs in counts.items():
        reference = baseline.reference.get(canary)
        if not reference:
            continue
        size = sum(outputs.values())
        share = share_departing(reference, outputs)
        even = share_departing(baseline.normalised.get(canary, {}), evened_out(outputs, digests))
        if share is None or even is None:
            continue
        raw, normalised, answers = raw + share * size, normalised + even * size, answers + size
    return Departure(raw, normalised, answers) if answers else None


def share_departing(reference: Mapping[str, int], run: Mapping[str, int]) -> float | None:
    outputs = list({*reference, *run})
    return departure([reference.get(key, 0) for key in outputs], [run.get(key, 0) for key in outputs])


def whitespace_digests(outputs: Iterable[str]) -> dict[str, str]:
    """{output: digest after white space is evened out}."""
    rows = Output.objects.filter(pk__in={int(output) for output in outputs}).values_list("pk", "whitespace_digest")
    return {str(pk): bytes(digest).hex()[:24] for pk, digest in rows}


def evened_out(outputs: Mapping[str, int], digests: Mapping[str, str]) -> Counter[str]:
    """Counts of outputs that are the same but for white space, merged."""
    merged: Counter[str] = Counter()
    for output, count in outputs.items():
        merged[digests.get(output, output)] += count
    return merged


def first_tokens(samples: Sequence[Sample], decoded: Sequence[Decoded]) -> dict[str, Tops]:
    """The log probabilities of each canary's first token, from one warm answer per canary."""
    chosen: dict[str, Tops] = {}
    for sample, read in zip(samples, decoded, strict=True):
        canary = str(sample.canary_id)
        if sample.output_id is None or (sample.cold and canary in chosen) or not read.tokens or not read.tokens[0].top:
            continue
        if canary not in chosen or not sample.cold:
            top = read.tokens[0].top[:TOP]
            chosen[canary] = {token.hex(): None if value is None else round(value, 6) for token, value in top}
    return chosen


def distance_of(reference: Mapping[str, Sequence[Tops]], run: Mapping[str, Tops]) -> float | None:
    """The mean over canaries of the run's distance from the reference, in nats. None where nothing can be compared."""
    scores = [
        score
        for canary, tops in run.items()
        if reference.get(canary) and (score := run_score(list(reference[canary]), [tops])) is not None
    ]
    return sum(scores) / len(scores) if scores else None


def _logprob_distance(baseline: Baseline, run: Mapping[str, Tops]) -> float | None:
    return distance_of(baseline.first_tokens, run) if baseline.state == Baseline.State.VALID else None
