"""A team's endpoints in every state, made through the real recording road: for page tests and for pictures."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from drift import monitors
from drift.answers import (
    Answer,
    Decoded,
    Exchange,
    FingerprintState,
    IdentityFacts,
    Outcome,
    ScoredToken,
    Transport,
    Usage,
)
from drift.endpoints import series_of
from drift.measure.agreement import divergence_of_pairs, pair_counts, split_text
from drift.models import (
    Capability,
    Endpoint,
    EndpointCheck,
    Heartbeat,
    Identity,
    Monitor,
    Run,
    SeriesBucket,
    Span,
    Suite,
    Team,
)
from drift.partitions import ensure_sample_partition
from drift.provision import make_suite
from drift.record import record_run
from drift.rollups import start_of

TRUNK = (
    "Richard Feynman was an American theoretical physicist who made significant contributions to our understanding of "
    "the behavior of subatomic particles. He was born on May 11, 1918, in"
)
FEYNMAN = (
    TRUNK + " New York City, to Jewish parents. Feynman's early interest in science was kindled by his father, who "
    "taught him to ask questions about everything",
    TRUNK
    + " Queens, New York, and grew up in Far Rockaway. His father, Melville, was a sales manager who encouraged him "
    "to challenge orthodox thinking",
    TRUNK + " New York City, to Jewish parents. Feynman's early work was on the quantum mechanics of liquid helium",
    TRUNK + " the small town of Far Rockaway, where he spent his childhood repairing radios for the neighbours",
)
CANARIES = (
    ("Short fact", "Tell me about Richard Feynman.", 96, FEYNMAN),
    ("List", "Name three seas that touch Europe.", 48, ("The Mediterranean Sea, the Baltic Sea and the North Sea.", "The Baltic Sea, the North Sea and the Mediterranean Sea.")),
    ("Code", "Write a Python function that reverses a string.", 64, ("def reverse(text):\n    return text[::-1]", "def reverse_string(s):\n    return s[::-1]")),
    ("Arithmetic", "What is 17 times 23?", 32, ("17 times 23 is 391.",)),
    ("Translation", "Translate to French: the tide is out.", 32, ("La marée est basse.", "La mer est basse.")),
    ("Long prose", "Write the opening of a story about a lighthouse.", 96, ("The lamp had been dark for three nights when Ada rowed out to the rock, and the gulls had already begun to claim it.", "The lamp had been dark for three nights when Ada rowed out to the reef with her father's keys in her coat.", "The lamp had burned for a hundred years.")),
    ("JSON", "Give a JSON object with name and age of Ada, 36.", 48, ('{"name": "Ada", "age": 36}',)),
    ("Chinese", "用一句话解释潮汐。", 48, ("潮汐是月球和太阳的引力使海水周期性涨落的现象。", "潮汐是海水在月球和太阳引力作用下的周期性涨落。")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Manner:
    """How a made-up endpoint answers: the chance of leaving the commonest answer, and what it says it is."""

    wander: float
    fingerprint: Callable[[datetime], str | None]
    tokens: bool = True
    batches: bool = False
    fail: Callable[[datetime], float] = lambda at: 0.0
    latency_ms: float = 900.0


def build(
    team: Team, now: datetime, *, hours: int = 24, every: timedelta = timedelta(hours=1), full: bool = True
) -> dict[str, Endpoint]:
    """The endpoints by name. `full` False: only the two in-house ones, as on the first day."""
    suite = make_suite(team, "Eight questions", [(name, prompt, cap) for name, prompt, cap, _ in CANARIES])
    made = {}

    def add(
        name: str,
        manner: Manner,
        *,
        days: int = 0,
        shape: Callable[[int], float] | None = None,
        quiet: int = 0,
        **fields: Any,
    ) -> Endpoint:
        endpoint, monitor = register(team, suite, name, now, **fields)
        made[name] = endpoint
        rng = random.Random(name)
        at = now - timedelta(hours=hours)
        while at < now - timedelta(hours=quiet):
            run(monitor, manner, at, rng)
            at += every
        if days and shape:
            history(monitor, now, days, shape, manner)
        return endpoint

    add(
        "smollm2 · fast",
        Manner(0.38, lambda at: "tg-5f21-bf16-fast", batches=True, latency_ms=400),
        provider="in-house",
        in_house="fast",
        model="smollm2-135m",
    )
    add(
        "smollm2 · invariant",
        Manner(0.0, lambda at: "tg-5f21-bf16-inv", batches=True, latency_ms=520),
        provider="in-house",
        in_house="invariant",
        model="smollm2-135m",
    )
    if not full:
        return made

    turned = now - timedelta(hours=3, minutes=7)
    add(
        "gpt-4o",
        Manner(0.12, lambda at: "fp_07871e2ad8" if at >= turned else "fp_a288987b44"),
        days=30,
        shape=lambda back: 0.31 if back == 0 else 0.12,
        provider="OpenAI",
        tags=["prod-eval"],
    )
    add(
        "llama-3.3-70b",
        Manner(0.2, lambda at: None, tokens=False, latency_ms=1400),
        days=30,
        shape=lambda back: 0.23 if back < 8 else 0.09,
        provider="Together",
        tags=["via OpenRouter"],
    )
    rng = random.Random(5)
    add(
        "deepseek-chat",
        Manner(
            0.15,
            lambda at: (
                "fp_prod0820_fp8_kvcache"
                if at < now - timedelta(hours=2) or rng.random() < 0.9
                else "fp_prod1129_fp8_kvcache"
            ),
        ),
        days=30,
        shape=lambda back: 0.14,
        provider="DeepSeek",
    )
    add(
        "mistral-medium",
        Manner(
            0.06, lambda at: None, fail=lambda at: 0.9 if 5 <= at.hour <= 6 else 0.04, tokens=False, latency_ms=1100
        ),
        days=30,
        shape=lambda back: -1 if 14 <= back <= 16 else 0.07,
        provider="Mistral",
    )
    add("gpt-oss-120b", Manner(0.1, lambda at: "fp_44d2f0", latency_ms=310), provider="Groq", quiet=2)
    Endpoint.objects.filter(name="gpt-oss-120b").update(
        circuit="open",
        failures_in_a_row=6,
        rest_reason="6 requests in a row were refused: 503 Service Unavailable",
        rest_until=now + timedelta(minutes=4),
    )
    add("claude-sonnet", Manner(0.05, lambda at: None, tokens=False), quiet=10, provider="Anthropic")
    monitors.pause(Monitor.objects.get(endpoint__name="claude-sonnet"), "budget of November spent")
    register(team, suite, "qwen3-235b", now, provider="Alibaba")
    add("tide-sim", Manner(0.25, lambda at: "sim-1"), provider="Simulator", simulated=True)
    waiting = Endpoint.objects.create(
        team=team,
        name="local-vllm",
        provider="self-hosted",
        base_url="http://10.0.0.7:8000/v1",
        model="qwen3-8b",
        parameters={"temperature": 0},
    )
    EndpointCheck.objects.create(
        endpoint=waiting,
        requested_at=now - timedelta(minutes=2),
        finished_at=now - timedelta(minutes=1),
        state=EndpointCheck.State.FAILED,
        problem="10.0.0.7 is a private address and not on the allow list. Ask an administrator to add it to ALLOW_PRIVATE_TARGETS.",
    )
    Identity.objects.filter(endpoint__created_at__lt=now).update()
    made["local-vllm"] = waiting
    return made


def register(team: Team, suite: Suite, name: str, now: datetime, **fields: Any) -> tuple[Endpoint, Monitor]:
    endpoint = Endpoint.objects.create(
        team=team,
        name=name,
        base_url=fields.pop("base_url", "https://api.example.com/v1"),
        model=fields.pop("model", name),
        api_key=fields.pop("api_key", "sk-scenery-key-1234"),
        api_key_hint="1234",
        parameters={"temperature": 0, "seed": 42, "logprobs": True, "top_logprobs": 2},
        price_in=fields.pop("price_in", 2.5),
        price_out=10,
        **fields,
    )
    EndpointCheck.objects.create(
        endpoint=endpoint,
        requested_at=now - timedelta(days=1),
        finished_at=now - timedelta(days=1),
        state=EndpointCheck.State.PASSED,
    )
    for capability, state, value, evidence in (
        ("seed", "honoured" if endpoint.in_house else "ignored", "", "Two answers with seed 42 and two with seed 43 differed as often as two with the same seed."),
        ("temperature", "honoured", "0", "Accepted; ten answers at 0 varied less than ten at 1."),
        ("logprobs", "honoured", "20", "20 alternatives were asked for and 20 came."),
        ("n", "refused", "", "400: n must be 1"),
    ):  # fmt: skip
        Capability.objects.create(
            endpoint=endpoint,
            name=capability,
            state=state,
            value=value,
            evidence=evidence,
            checked_at=now - timedelta(days=1),
        )
    monitor = Monitor.objects.create(
        endpoint=endpoint, suite=suite, cadence_s=300, repeats=5, concurrency=8, next_due_at=now + timedelta(seconds=70)
    )
    return endpoint, monitor


def run(monitor: Monitor, manner: Manner, at: datetime, rng: random.Random) -> Run:
    """One finished run, recorded as a worker would."""
    ensure_sample_partition(at)
    claim = uuid4()
    made = Run.objects.create(
        monitor=monitor, series=series_of(monitor.endpoint, monitor.suite), scheduled_for=at, state=Run.State.RUNNING, claim=claim,
        lease_until=at + timedelta(minutes=2), started_at=at, repeats=monitor.repeats, concurrency=monitor.concurrency,
    )  # fmt: skip
    answers = []
    for canary, (_, _, _, texts) in zip(monitor.suite.canaries.order_by("places__position"), CANARIES, strict=True):
        for repeat in range(monitor.repeats):
            text = (
                texts[min(len(texts) - 1, 1 + int(rng.random() ** 2 * (len(texts) - 1)))]
                if rng.random() < manner.wander
                else texts[0]
            )
            answers.append(answer(canary.pk, repeat, text, texts, manner, at, rng))
    assert record_run(made, claim, answers, at + timedelta(seconds=rng.randint(3, 9)))
    return made


def answer(
    canary: int, repeat: int, text: str, texts: Sequence[str], manner: Manner, at: datetime, rng: random.Random
) -> Answer:
    started = at + timedelta(milliseconds=repeat * 7)
    latency = manner.latency_ms * (0.7 + rng.random())
    if rng.random() < manner.fail(at):
        kind, status, words = rng.choice(
            [
                (Outcome.HTTP_ERROR, 503, "503: the model is overloaded"),
                (Outcome.TIMEOUT, None, "no answer within 120 s"),
            ]
        )
        return Answer(
            canary, repeat,
            Exchange(b"{}", Transport.WHOLE, started, latency * 4, status=status, body=b'{"error": {"message": "overloaded"}}'),
            Decoded(1, kind, error_message=words),
        )  # fmt: skip
    pieces = split_text(text)
    forks = {
        next((i for i, (a, b) in enumerate(zip(pieces, split_text(o), strict=False)) if a != b), -1)
        for o in texts
        if o != text
    }
    scored = tuple(
        ScoredToken(
            piece.encode(),
            -0.1,
            ((piece.encode(), -0.1), (b"?", -0.1 - (rng.random() * 0.02 if i in forks else 1.5 + rng.random() * 4))),
        )
        for i, piece in enumerate(pieces)
    )
    fingerprint = manner.fingerprint(at)
    batch = 1 if text == texts[min(1, len(texts) - 1)] and len(texts) > 1 else rng.choice([2, 4, 8, 16])
    body = f'{{"id":"chatcmpl-1","object":"chat.completion","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text[:40]}"}}}}]}}'
    return Answer(
        canary, repeat,
        Exchange(
            b'{"model":"x","messages":[{"role":"user","content":"Tell me about Richard Feynman."}],"temperature":0,"seed":42,"max_tokens":96,"logprobs":true,"top_logprobs":2}',
            Transport.WHOLE, started, latency, status=200, body=body.encode(), headers=(("content-type", "application/json"), ("x-request-id", "req_1")),
        ),
        Decoded(
            1, Outcome.TEXT, text=text, finish="length" if len(pieces) > 40 else "stop", finish_reason="stop",
            tokens=scored if manner.tokens else None,
            usage=Usage(prompt_tokens=14, completion_tokens=len(pieces)),
            identity=IdentityFacts(
                model_echo="model-2026-08-01",
                fingerprint_state=FingerprintState.VALUE if fingerprint else FingerprintState.ABSENT,
                fingerprint=fingerprint or "",
            ),
            batch_sizes=(batch,) * len(pieces) if manner.batches else None,
        ),
    )  # fmt: skip


def history(monitor: Monitor, now: datetime, days: int, shape: Callable[[int], float], manner: Manner) -> None:
    """Days before today, as sums only. `shape(days back)`: the divergence; negative: nothing was asked."""
    series = series_of(monitor.endpoint, monitor.suite)
    rng = random.Random(monitor.pk)
    identity = monitor.endpoint.identities.order_by("first_seen").first()
    rows = []
    for back in range(1, days):
        share = shape(back)
        if share < 0:
            continue
        counts = [
            [max(1, int(200 * (1 - share * rng.uniform(0.2, 1.1)))), int(1 + 200 * share * rng.uniform(0.1, 0.9))]
            for _ in CANARIES
        ]
        pairs = [pair_counts(each) for each in counts]
        estimate = divergence_of_pairs(pairs)
        assert estimate
        rows.append(
            SeriesBucket(
                series=series, span=Span.DAY, starts_at=start_of(Span.DAY, now) - timedelta(days=back), runs=288, samples=1600, comparable=1590,
                outcomes={"text": 1590, "http_error": 10}, identities={str(identity.pk): 1590} if identity else {},
                latency={str(int(rng.gauss(59, 1))): 1590}, pairs=sum(p.total for p in pairs), pairs_differing=sum(p.differing for p in pairs),
                divergence=estimate.value, divergence_low=estimate.low, divergence_high=estimate.high, canaries=8,
                groups=2304, groups_identical=1700, distinct_sum=3000, answers_sum=11_000,
            )
        )  # fmt: skip
    SeriesBucket.objects.bulk_create(rows, ignore_conflicts=True)
    monitor.endpoint.identities.filter(pk=identity.pk if identity else None).update(
        first_seen=now - timedelta(days=days)
    )


def beat(now: datetime) -> None:
    for part in ("tick", "broker", "run"):
        Heartbeat.objects.update_or_create(part=part, defaults={"beat_at": now})
