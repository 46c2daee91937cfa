"""The server, through the official client and the real model."""

from __future__ import annotations

import contextlib
import json
import math
import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.workers.inference.conftest import RunningServer, start_server, stop_server

MODEL = "smollm2-135m-instruct"
QUESTION = [{"role": "user", "content": "Name the capital of France."}]


def get(server: RunningServer, path: str) -> bytes:
    with urllib.request.urlopen(server.root + path, timeout=30) as response:
        return response.read()


def post(server: RunningServer, path: str, body: bytes) -> tuple[int, dict]:
    request = urllib.request.Request(server.root + path, data=body, headers={"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def gauge(server: RunningServer, name: str) -> float:
    families = text_string_to_metric_families(get(server, "/metrics").decode())
    return next(s.value for family in families for s in family.samples if s.name == f"tidegauge_worker_{name}")


def ask(client: openai.OpenAI, **more):
    return client.chat.completions.create(**({"model": MODEL, "messages": QUESTION, "max_tokens": 8} | more))


def test_it_answers_a_question_and_says_how_it_was_computed(client, server) -> None:
    answer = ask(client, temperature=0)

    assert "Paris" in answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.system_fingerprint == server.fingerprint
    assert server.fingerprint.startswith("tg-")
    assert server.fingerprint.endswith("-bf16-inv")
    facts = answer.model_extra["tidegauge"]
    assert facts["mode"] == "invariant"
    assert len(facts["batch_sizes"]) == answer.usage.completion_tokens


def test_health_shows_the_verification_that_ran_before_serving(server) -> None:
    health = json.loads(get(server, "/health"))

    assert health["status"] == "ok"
    assert (health["model"], health["mode"], health["dtype"]) == (MODEL, "invariant", "bf16")
    assert health["fingerprint"] == server.fingerprint
    assert health["verification"]["state"] == "verified"
    assert health["verification"]["differing_bits"] == 0
    assert health["verification"]["rows"] > 300
    assert health["verification"]["control_differing_rows"] > 0


def test_models_are_listed(client) -> None:
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL).id == MODEL


def test_answers_do_not_depend_on_company(client) -> None:
    prompts = ["Name three fruits.", "Write a haiku.", "What is 17 * 23?", "用中文说你好。"]

    def exact(prompt: str):
        answer = ask(
            client,
            messages=[{"role": "user", "content": prompt}],
            max_tokens=8,
            temperature=0,
            logprobs=True,
            top_logprobs=3,
        )
        return answer.choices[0].logprobs.model_dump(), answer.model_extra["tidegauge"]["batch_sizes"]

    alone = [exact(prompt) for prompt in prompts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(exact, prompts))

    assert all(max(sizes) == 1 for _, sizes in alone)
    assert any(max(sizes) > 1 for _, sizes in together)
    assert [scores for scores, _ in together] == [scores for scores, _ in alone]


def test_a_stream_carries_the_same_answer_piece_by_piece(client, server) -> None:
    whole = ask(client, temperature=0, logprobs=True, top_logprobs=2)
    stream = list(
        ask(
            client,
            temperature=0,
            logprobs=True,
            top_logprobs=2,
            stream=True,
            stream_options={"include_usage": True},
        )
    )

    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    scores = [
        token.model_dump()
        for chunk in stream
        if chunk.choices and chunk.choices[0].logprobs
        for token in chunk.choices[0].logprobs.content
    ]
    assert text == whole.choices[0].message.content
    assert scores == [token.model_dump() for token in whole.choices[0].logprobs.content]
    assert stream[0].choices[0].delta.role == "assistant"
    assert stream[-2].choices[0].finish_reason == "stop"
    assert stream[-1].usage.completion_tokens == whole.usage.completion_tokens
    assert len(stream[-1].model_extra["tidegauge"]["batch_sizes"]) == whole.usage.completion_tokens
    assert {chunk.system_fingerprint for chunk in stream} == {server.fingerprint}


def test_without_usage_the_last_chunk_carries_the_batches(client) -> None:
    stream = list(ask(client, temperature=0, stream=True))

    assert stream[-1].choices[0].finish_reason == "stop"
    assert stream[-1].model_extra["tidegauge"]["mode"] == "invariant"
    assert all("tidegauge" not in (chunk.model_extra or {}) for chunk in stream[:-1])


def test_logprobs_have_bytes_and_best_first_alternatives(client) -> None:
    content = ask(client, temperature=0, logprobs=True, top_logprobs=20).choices[0].logprobs.content

    assert b"".join(bytes(token.bytes) for token in content).decode() == "The capital of France is Paris."
    for token in content:
        values = [alternative.logprob for alternative in token.top_logprobs]
        assert len(values) == 20
        assert values == sorted(values, reverse=True)
        assert token.logprob == values[0]
        assert sum(map(math.exp, values)) <= 1 + 1e-6


def test_scoring_an_answer_gives_the_bits_that_decoding_gave(client) -> None:
    decoded = client.completions.create(
        model=MODEL, prompt=[504, 3575, 282], max_tokens=12, temperature=0, logprobs=1, extra_body={"ignore_eos": True}
    )
    prompt_and_answer = client.completions.create(
        model=MODEL, prompt=[504, 3575, 282], max_tokens=12, temperature=0, logprobs=0, echo=True,
        extra_body={"ignore_eos": True},
    )  # fmt: skip
    scores = prompt_and_answer.choices[0].logprobs

    assert scores.token_logprobs[0] is None
    assert scores.token_logprobs[3:] == decoded.choices[0].logprobs.token_logprobs
    assert "".join(scores.tokens) == prompt_and_answer.choices[0].text

    forced = client.completions.create(
        model=MODEL, prompt=prompt_and_answer.choices[0].text, max_tokens=0, logprobs=0, echo=True
    )
    assert forced.usage.completion_tokens == 0
    if forced.choices[0].logprobs.tokens == scores.tokens:
        assert forced.choices[0].logprobs.token_logprobs[1:] == scores.token_logprobs[1:]


def test_a_seed_holds_and_another_seed_differs(client) -> None:
    def drawn(seed: int) -> str:
        question = [{"role": "user", "content": "Invent a word."}]
        return ask(client, messages=question, max_tokens=6, temperature=1.2, seed=seed).choices[0].message.content

    first = drawn(7)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(drawn, [7, 7, 7])) == [first] * 3
    assert len({drawn(seed) for seed in (7, 8, 9)}) > 1


def test_several_choices_and_several_prompts(client) -> None:
    answer = ask(client, n=3, temperature=1.0, seed=1)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    assert len(answer.model_extra["tidegauge"]["batch_sizes"]) == answer.usage.completion_tokens
    assert ask(client, n=1, temperature=1.0, seed=2).choices[0].message == answer.choices[1].message

    batch = client.completions.create(model=MODEL, prompt=["One, two,", "Red, green,"], max_tokens=3, temperature=0)
    assert [choice.index for choice in batch.choices] == [0, 1]
    assert len({choice.text for choice in batch.choices}) == 2

    streamed: dict[int, str] = {}
    for chunk in ask(client, n=2, temperature=1.0, seed=1, stream=True):
        streamed[chunk.choices[0].index] = streamed.get(chunk.choices[0].index, "") + (
            chunk.choices[0].delta.content or ""
        )
    assert [streamed[0], streamed[1]] == [choice.message.content for choice in answer.choices[:2]]


def test_a_stop_string_ends_the_answer_before_it(client) -> None:
    answer = ask(client, temperature=0, stop=["France"])

    assert answer.choices[0].message.content == "The capital of "
    assert answer.choices[0].finish_reason == "stop"
    assert "".join(
        c.choices[0].delta.content or "" for c in ask(client, temperature=0, stop="France", stream=True)
    ) == ("The capital of ")


def test_both_names_of_the_cap_are_honoured(client) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        answer = client.chat.completions.create(model=MODEL, messages=QUESTION, temperature=0, **{name: 2})
        assert answer.usage.completion_tokens == 2
        assert answer.choices[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"temperature": 3}, "temperature"),
        ({"top_p": -0.1}, "top_p"),
        ({"top_logprobs": 21, "logprobs": True}, "top_logprobs"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"max_tokens": 100_000}, "max_tokens"),
        ({"n": 17}, "n"),
        ({"seed": 1.5}, "seed"),
        ({"stop": ["a"] * 5}, "stop"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "pirate", "content": "arr"}]}, "messages[0].role"),
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"no_such_thing": 1}, "no_such_thing"),
        ({"stream": "yes"}, "stream"),
    ],
)
def test_a_bad_parameter_is_named(server, change, parameter) -> None:
    body = {"model": MODEL, "messages": QUESTION, "max_tokens": 4} | change

    status, answer = post(server, "/v1/chat/completions", json.dumps(body).encode())

    assert status == 400
    assert answer["error"]["param"] == parameter
    assert answer["error"]["message"]
    assert answer["error"]["type"] == "invalid_request_error"


def test_other_errors_use_the_same_envelope(server, client) -> None:
    assert post(server, "/v1/chat/completions", b"{not json")[0] == 400
    assert post(server, "/v1/chat/completions", b"[]")[0] == 400
    assert post(server, "/v1/nothing", b"{}")[1]["error"]["code"] == "not_found"
    with pytest.raises(urllib.error.HTTPError, match="405"):
        get(server, "/v1/chat/completions")
    with pytest.raises(openai.NotFoundError) as missing:
        ask(client, model="gpt-9")
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as too_long:
        client.completions.create(model=MODEL, prompt=[5] * 5000, max_tokens=4)
    assert too_long.value.code == "context_length_exceeded"
    with pytest.raises(openai.BadRequestError):
        client.completions.create(model=MODEL, prompt=[49_152], max_tokens=4)


def test_neutral_values_of_unsupported_parameters_are_accepted(client) -> None:
    answer = ask(client, temperature=0, frequency_penalty=0, response_format={"type": "text"}, user="someone")

    assert "Paris" in answer.choices[0].message.content


def test_a_full_queue_answers_429_and_says_when_to_come_back(server) -> None:
    body = json.dumps({"model": MODEL, "messages": QUESTION, "max_tokens": 6, "ignore_eos": True, "n": 4}).encode()

    with ThreadPoolExecutor(6) as pool:
        waits = list(pool.map(lambda _: _retry_after(server, body), range(6)))

    assert None in waits, "nobody was served"
    assert any(wait is not None and int(wait) >= 1 for wait in waits)


def _retry_after(server: RunningServer, body: bytes) -> str | None:
    """What a refusal says; None when served."""
    try:
        urllib.request.urlopen(urllib.request.Request(server.url + "/chat/completions", data=body), timeout=60).read()
    except urllib.error.HTTPError as error:
        return error.headers["retry-after"]
    return None


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_vanishes_frees_its_place(server, stream) -> None:
    cancelled = gauge(server, "sequences_cancelled_total")
    body = {"model": MODEL, "messages": QUESTION, "max_tokens": 2000, "ignore_eos": True, "stream": stream}
    raw = json.dumps(body).encode()
    host, port = server.root.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(raw)}\r\n\r\n"
        connection.sendall(head.encode() + raw)
        deadline = time.monotonic() + 20
        while gauge(server, "sequences_running") < 1 and time.monotonic() < deadline:
            time.sleep(0.05)

    deadline = time.monotonic() + 20
    while gauge(server, "sequences_running") and time.monotonic() < deadline:
        time.sleep(0.05)

    assert gauge(server, "sequences_running") == 0
    assert gauge(server, "sequences_cancelled_total") == cancelled + 1


def test_a_connection_serves_several_requests_and_survives_nonsense(server) -> None:
    host, port = server.root.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\nGET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n")
        received = b""
        connection.settimeout(10)
        while received.count(b"HTTP/1.1 200") < 2:
            received += connection.recv(65536)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        connection.settimeout(10)
        assert connection.recv(65536).startswith(b"HTTP/1.1 400")
    assert get(server, "/health")


def test_metrics_are_prometheus_text(server) -> None:
    names = {family.name for family in text_string_to_metric_families(get(server, "/metrics").decode())}

    assert {"tidegauge_worker_generated_tokens", "tidegauge_worker_pages_free", "tidegauge_worker_requests"} <= names


def test_sigterm_ends_a_busy_worker_at_once_and_cleanly() -> None:
    running = start_server("--mode", "fast", "--max-batch", "2")
    body = json.dumps({"model": MODEL, "messages": QUESTION, "max_tokens": 3000, "ignore_eos": True}).encode()
    hanging = threading.Thread(target=lambda: _ignore_errors(running, body))
    hanging.start()
    deadline = time.monotonic() + 20
    while gauge(running, "sequences_running") < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert json.loads(get(running, "/health"))["verification"]["state"] == "not_applicable"

    clock = time.monotonic()
    assert stop_server(running) == 0
    assert time.monotonic() - clock < 5
    hanging.join(10)
    assert not hanging.is_alive()


def _ignore_errors(server: RunningServer, body: bytes) -> None:
    with contextlib.suppress(OSError):
        post(server, "/v1/chat/completions", body)


def test_a_taken_port_is_an_error_and_not_a_trace(server) -> None:
    port = server.root.rsplit(":", 1)[1]
    command = ["--mode", "fast", "--port", port]

    with pytest.raises(RuntimeError, match=f"cannot listen on 127.0.0.1:{port}"):
        start_server(*command)
