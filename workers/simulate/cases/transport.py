"""Traps on the way: wrong documents, wrong labels, proxies that fail, headers that cannot be read."""

from __future__ import annotations

from workers.simulate.cases.trap import Trap
from workers.simulate.draft import Draft
from workers.simulate.reply import chunks, completion
from workers.simulate.wire import SIMULATED, Wire, as_json, events, whole

PROXY_FAILURES = (502, 520, 522, 524)
RESETS = ("6m0s", "17.399999999s", "26ms", "500", "2026-11-29T12:00:00Z", "1790000000", "soon")
KEEPALIVE_S = 0.05


def lacks_v1(draft: Draft) -> Wire:
    """A chat page lives at the root; the API is below /v1."""
    if "/v1/" not in draft.request.route + "/":
        page = "<!DOCTYPE html><html><head><title>Simulated chat</title></head><body></body></html>"
        return whole(page, content_type="text/html")
    if draft.request.route.endswith("/models"):
        return whole({"object": "list", "data": [{"id": draft.scenario.model, "object": "model"}]})
    return draft.plain()


def proxy_page(draft: Draft) -> Wire:
    """A proxy's HTML page instead of the origin's answer."""
    status = PROXY_FAILURES[draft.index % len(PROXY_FAILURES)]
    page = f"<html><head><title>{status}: origin error</title></head><body>{'<p>x</p>' * 400}</body></html>"
    return whole(page, status, "text/html", [("cf-ray", f"8abc{draft.index:04d}-FRA"), ("server", "cloudflare")])


def keepalive_only(draft: Draft) -> Wire:
    """Under load: blank lines or comments, and then nothing."""
    if draft.streams:
        return events([": keep-alive\n\n"] * 3, done=False, pause_s=KEEPALIVE_S)
    if draft.index % 2 == 1:
        return whole(b"")
    return Wire(200, (("content-type", "application/json"), SIMULATED), ((KEEPALIVE_S, b"\n"),) * 3, closes=True)


def odd_rate_headers(draft: Draft) -> Wire:
    """Good answers under rate headers in every format, a `retry-after` among them; every third is refused."""
    reset = RESETS[draft.index % len(RESETS)]
    headers = [("x-ratelimit-reset-requests", reset), ("x-ratelimit-remaining-requests", "0"), ("retry-after", "2")]
    if draft.index % 3 == 2:
        return whole(
            {"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}},
            429,
            headers=[("retry-after", "1m13.588s")],
        )
    return whole(completion(draft.reply), headers=headers)


def wrong_encoding(draft: Draft) -> Wire:
    """Labels a plain body as gzip, unless the client takes nothing but plain ones."""
    plain = draft.request.headers.get("accept-encoding") == "identity"
    return whole(completion(draft.reply), headers=[] if plain else [("content-encoding", "gzip")])


def cut_context(draft: Draft) -> Wire:
    """The prompt is cut to the window without a word; only `prompt_tokens` shows it."""
    window = 4096 if draft.elapsed_s < 3600 else 2048
    usage = {**draft.reply.usage, "prompt_tokens": min(draft.reply.prompt_tokens, window)}
    return draft.plain(usage=usage)


def recovers(draft: Draft) -> Wire:
    """Two failures, then an answer: a client that retries in secret shows one slow success."""
    if draft.index % 3 < 2:
        return whole({"error": {"message": "Overloaded.", "type": "server_error", "code": None}}, 503)
    return draft.plain()


def drips(draft: Draft) -> Wire:
    """One byte at a time, for ever slower than anyone waits."""
    body = as_json(completion(draft.reply)).encode()
    head = (("content-type", "application/json"), ("content-length", str(len(body))), SIMULATED)
    return Wire(200, head, tuple((KEEPALIVE_S, body[at : at + 1]) for at in range(len(body))))


def cut_stream(draft: Draft) -> Wire:
    """The connection ends in the middle of the stream, without finish reason or [DONE]."""
    sent = list(chunks(draft.reply))
    return events(sent[: len(sent) // 2], done=False) if draft.streams else draft.plain()


TRANSPORT = {
    "b30": Trap(lacks_v1, any_route=True),
    "b31": Trap(proxy_page),
    "b32": Trap(keepalive_only),
    "b36": Trap(odd_rate_headers),
    "b38": Trap(wrong_encoding),
    "b39": Trap(cut_context),
    "b40": Trap(recovers),
    "slow-drip": Trap(drips),
    "cut-stream": Trap(cut_stream),
}
