"""Observations and traces over HTTP."""

from __future__ import annotations

import gzip
import json

from django.test import Client
from django.utils import timezone

from drift.models import Monitor, ObservedBucket
from tests.dashboard.api.test_api import Program, writer

__all__ = ["writer"]


def test_a_batch_is_accepted_and_read_back(writer: Program, monitor: Monitor) -> None:
    ours = {"endpoint": "gpt-x", "fingerprint": "fp_a", "prompt_hash": "p", "output_hash": "o"}
    status, said = writer.post("/observations", {"observations": [ours, ours, {"endpoint": "other"}]})
    assert (status, said["accepted"], said["rejected"][0]["index"]) == (202, 2, 2)
    told = writer.get(f"/endpoints/{monitor.endpoint.public_id}/observations")[1]
    assert (told["hours"][0]["identity"], told["hours"][0]["answers"]) == ("fp_a", 2)
    assert (told["repeated_prompts"], told["repeated_answers"], told["differing_answers"]) == (1, 1, 0)


def traces(client: Client, body: bytes, **headers: str) -> tuple[int, bytes]:
    answer = client.post(
        "/api/v1/otlp/v1/traces", body, content_type=headers.pop("kind", "application/json"), headers=headers
    )
    return answer.status_code, answer.content


def test_traces_are_counted_packed_or_not(writer: Program, monitor: Monitor) -> None:
    def attribute(key: str, value: str) -> dict[str, object]:
        return {"key": key, "value": {"stringValue": value}}

    span = {
        "endTimeUnixNano": str(int(timezone.now().timestamp() * 1e9)),
        "attributes": [
            attribute("gen_ai.request.model", "gpt-x"),
            attribute("server.address", "127.0.0.1"),
            attribute("gen_ai.openai.response.system_fingerprint", "fp_t"),
        ],
    }
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span, span]}]}]}).encode()
    assert traces(writer.client, body) == (200, b"{}")
    assert traces(writer.client, gzip.compress(body), **{"Content-Encoding": "gzip"})[0] == 200
    assert ObservedBucket.objects.get().answers == 4

    assert traces(writer.client, b"\x0a\x00", kind="application/x-protobuf") == (200, b"")
    assert traces(writer.client, b"{")[0] == 400
    assert traces(writer.client, b"x", kind="text/plain")[0] == 415
    bomb = gzip.compress(b" " * (17 * 1024 * 1024))
    assert traces(writer.client, bomb, **{"Content-Encoding": "gzip"})[0] == 400
