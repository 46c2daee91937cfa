"""The scenarios that can be asked for by name."""

from __future__ import annotations

from collections.abc import Mapping

from workers.simulate.scenario import Phase, Scenario, Storm, Support, Version

HOUR, DAY = 3600.0, 86_400.0

FLAPPING = (("fp_aaaaaaaaaa", 0.8), ("fp_bbbbbbbbbb", 0.2))
STEADY = Version(flip_rate=0.03)
MISTRAL_LIKE = ("seed", "logprobs", "top_logprobs", "max_completion_tokens", "n", "stream_options")


def _one(version: Version) -> tuple[Phase, ...]:
    return (Phase(0.0, version),)


_STORIES = (
    Scenario("steady", phases=_one(STEADY), latency_ms=40, about="a quiet endpoint: few near-ties, one fingerprint"),
    Scenario("exact", phases=_one(Version()), latency_ms=20, about="never differs"),
    Scenario("instant", about="never differs and answers at once, for measuring clients"),
    Scenario(
        "near-ties", phases=_one(Version(flip_rate=0.3)), latency_ms=40, about="near-ties flip in 30 % of answers"
    ),
    Scenario(
        "daily-rhythm",
        phases=_one(Version(flip_rate=0.08)),
        rhythm=0.8,
        latency_ms=40,
        about="near-ties flip more in the afternoon",
    ),
    Scenario(
        "flapping",
        phases=_one(Version(fingerprints=FLAPPING, flip_rate=0.05)),
        about="two fingerprints at once; nothing else changes",
    ),
    Scenario(
        "rollout",
        phases=(
            Phase(0.0, Version(fingerprints=(("fp_0ldc0ffee0", 1.0),), flip_rate=0.03)),
            Phase(
                DAY,
                Version(fingerprints=(("fp_newc0ffee0", 1.0),), salt=1, changed_prompts=0.5, flip_rate=0.03),
                1.0,
                DAY,
            ),
        ),
        about="after a day a new version takes over within a day, with its own fingerprint",
    ),
    Scenario(
        "silent-change",
        phases=(Phase(0.0, STEADY), Phase(DAY, Version(flip_rate=0.2))),
        about="after a day answers become restless; no fingerprint tells",
    ),
    Scenario(
        "cosmetic-change",
        phases=(Phase(0.0, STEADY), Phase(DAY, Version(fingerprints=(("fp_c05metic00", 1.0),), flip_rate=0.03))),
        about="after a day the fingerprint changes and the answers do not",
    ),
    Scenario(
        "throttled",
        phases=_one(STEADY),
        storms=tuple(Storm(hour * HOUR + 600, hour * HOUR + 1200, retry_after="30") for hour in range(24 * 60)),
        about="ten minutes of 429 in every hour",
    ),
    Scenario(
        "outage",
        phases=_one(STEADY),
        storms=(Storm(HOUR, 2 * HOUR, status=503, retry_after=""),),
        about="down for an hour after the first",
    ),
    Scenario("slow-drip", case="slow-drip", about="one byte at a time"),
    Scenario("cut-stream", case="cut-stream", about="streams break off half way"),
    Scenario("hostile", case="hostile", about="bodies made to break their reader"),
    Scenario(
        "responses",
        support=Support(refused=("seed", "logprobs", "n", "stream_options")),
        about="for the Responses API: no seed, scores on request",
    ),
    Scenario(
        "reasoning",
        case="b23",
        support=Support(refused=("temperature=0", "max_tokens", "logprobs", "top_logprobs", "seed")),
        about="a reasoning model: hidden tokens, most parameters refused",
    ),
)

_TRAPS = (
    Scenario("b01", phases=_one(Version(fingerprints=FLAPPING)), about="fingerprint flaps though nothing changed"),
    Scenario("b02", phases=_one(Version(fingerprints=((None, 1.0),))), about="fingerprint is null"),
    Scenario(
        "b03",
        phases=_one(Version(fingerprints=(("vllm-0.24.0-tp4-0a1b2c3d", 1.0),))),
        case="b03",
        about="fingerprint only on the last chunk, per model",
    ),
    Scenario("b04", phases=_one(Version(flip_rate=0.3)), about="temperature 0 differs"),
    Scenario("b05", case="b05", about="the first call is cold"),
    Scenario("b06", case="b06", about="another upstream at every call"),
    Scenario(
        "b07",
        model="simulated-chat",
        phases=(
            Phase(0.0, Version(model_echo="simulated-v3")),
            Phase(HOUR, Version(model_echo="simulated-v4", salt=1)),
        ),
        case="b07",
        about="an alias is re-pointed, then retired",
    ),
    Scenario("b08", phases=_one(Version(model_echo="simulated-small-2026-08-06")), about="alias echoes a dated name"),
    Scenario(
        "b09", model="simulated-medium-latest", phases=_one(Version(fingerprints=())), about="alias echoes itself"
    ),
    Scenario("b10", model="simulated-loaded", case="b10", about="the model's name is ignored"),
    Scenario("b11", case="b11", about="a fallback shown in headers only"),
    Scenario("b12", case="b12", about="answers from a cache"),
    Scenario("b13", phases=_one(Version(flip_rate=0.2)), support=Support(ignored=("seed",)), about="seed is ignored"),
    Scenario("b14", case="b14", about="scores make the server fail"),
    Scenario("b14-poisoned", case="b14-poisoned", about="scores are NaN and -Infinity"),
    Scenario("b15", case="b15", about="placeholder scores"),
    Scenario("b16", case="b16", about="scores scaled by temperature 0"),
    Scenario("b17", support=Support(most_scores=5), about="more than 5 alternatives are refused"),
    Scenario("b17-clamped", support=Support(most_scores=5, clamps_scores=True), about="at most 5 alternatives come"),
    Scenario("b18", case="b18", about="scores are accepted and do not come"),
    Scenario("b19", case="b19", about="scores in other shapes"),
    Scenario("b20", case="b20", about="characters split across tokens"),
    Scenario("b21", case="b21", about="an error with status 200"),
    Scenario("b22", case="b22", about="filtered: no message, no choices"),
    Scenario("b23", case="b23", about="reasoning ate the cap"),
    Scenario("b24", case="b24", about="content is a list of parts"),
    Scenario("b25", case="b25", about="odd finish reasons"),
    Scenario("b26", case="b26", about="tool calls nobody offered"),
    Scenario("b27", case="b27", about="no usage"),
    Scenario("b28", case="b28", about="a leading space only in streams"),
    Scenario("b29", case="b29", about="NUL and lone surrogates"),
    Scenario("b30", case="b30", about="HTML where the address lacks /v1"),
    Scenario("b31", case="b31", about="a proxy's HTML errors"),
    Scenario("b32", case="b32", about="empty answers and keep-alive lines"),
    Scenario("b33", support=Support(stream="only"), about="streams only"),
    Scenario("b33-never", support=Support(stream="never"), about="no streams"),
    Scenario(
        "b34",
        support=Support(refused=MISTRAL_LIKE, envelope="fastapi", seed_field="random_seed"),
        about="strict: refusals of FastAPI",
    ),
    Scenario("b34-google", support=Support(refused=("seed",), envelope="google"), about="strict: refusals of Google"),
    Scenario(
        "b34-plain", support=Support(refused=("seed", "n"), envelope="plain"), about="strict: refusals as a string"
    ),
    Scenario("b35", support=Support(refused=("temperature=0",)), about="temperature 0 is refused"),
    Scenario("b36", case="b36", about="rate-limit headers in every format"),
    Scenario("b37", about="for TLS with a private authority"),
    Scenario("b38", case="b38", about="plain bodies labelled gzip"),
    Scenario("b39", case="b39", about="the context is cut silently"),
    Scenario("b40", case="b40", about="two failures before each success"),
)

NAMED: Mapping[str, Scenario] = {scenario.name: scenario for scenario in (*_STORIES, *_TRAPS)}
