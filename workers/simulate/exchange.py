"""Exchanges with a simulated endpoint at any time, without sockets: how weeks of history are made in minutes."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from drift.answers import ApiKind, Ask, Exchange, Outcome, Target, Transport
from workers.simulate.answer import answer
from workers.simulate.draws import draw
from workers.simulate.request import Request
from workers.simulate.scenario import Scenario

MARK_HEADERS = frozenset({"content-length", "connection"})


def exchange_at(scenario: Scenario, target: Target, ask: Ask, *, at: datetime, begin: datetime, index: int) -> Exchange:
    """What the prober would have brought back from request number `index`, sent at `at`.

    `begin` is when the scenario started. Latency is the scripted one with a little spread; nothing waits.
    """
    is_response = target.kind is ApiKind.RESPONSES
    fields: dict[str, Any] = {
        "model": target.model,
        "input" if is_response else "messages": list(ask.messages),
        "stream": target.transport is Transport.STREAM,
        target.cap_parameter: ask.max_tokens,
        **target.parameters,
    }
    body = json.dumps(fields).encode()
    route = urlsplit(target.base_url).path + ("/responses" if is_response else "/chat/completions")
    headers = {"authorization": f"Bearer {target.api_key}"} if target.api_key else {}
    wire = answer(
        scenario,
        Request("POST", route, headers, body),
        unix_s=at.timestamp(),
        elapsed_s=(at - begin).total_seconds(),
        index=index,
    )
    spread = 0.8 + 0.4 * draw(scenario.seed, "latency", index)
    latency_ms = (wire.duration_s * 1000 + 1.0) * spread
    late = timedelta(milliseconds=latency_ms).total_seconds() > target.deadline_s
    return Exchange(
        request_body=body,
        transport=target.transport,
        started_at=at,
        latency_ms=min(latency_ms, target.deadline_s * 1000),
        first_byte_ms=None if late else (wire.pieces[0][0] * 1000 + 1.0) * spread if wire.pieces else None,
        status=None if late else wire.status,
        headers=() if late else tuple(pair for pair in wire.headers if pair[0] not in MARK_HEADERS),
        body=b"" if late else wire.body,
        transport_error=Outcome.TIMEOUT if late else None,
        error_detail="The simulated answer took longer than the deadline." if late else "",
        kind=target.kind,
    )
