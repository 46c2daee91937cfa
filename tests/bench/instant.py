"""A server that answers every request at once with the same bytes: the other end of a client's benchmark.

`python -m tests.bench.instant` prints its port and serves until it is stopped.
"""

from __future__ import annotations

import asyncio
import json

TOKENS = 64


def answer() -> bytes:
    """An ordinary chat completion of 64 tokens with two alternatives each, as HTTP."""
    words = [" tide" if index else "Tide" for index in range(TOKENS)]
    entries = [
        {
            "token": word,
            "logprob": -0.1,
            "bytes": list(word.encode()),
            "top_logprobs": [
                {"token": word, "logprob": -0.1, "bytes": list(word.encode())},
                {"token": " sea", "logprob": -2.5, "bytes": list(b" sea")},
            ],
        }
        for word in words
    ]
    body = {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 0,
        "model": "simulated-bench",
        "system_fingerprint": "fp_bench",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "".join(words)},
                "logprobs": {"content": entries, "refusal": None},
                "finish_reason": "stop",
            }
        ],
        # No usage: so many tokens in so little time would be taken for answers out of a cache.
    }
    raw = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(raw)}\r\n\r\n"
    return head.encode() + raw


class Instant(asyncio.Protocol):
    """Reads as little of a request as it needs to know where it ends."""

    before, after = answer().split(b"chatcmpl-bench")
    served = 0  # equal ids would be taken for answers out of a cache

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.waiting = b""

    def data_received(self, data: bytes) -> None:
        self.waiting += data
        while (head_end := self.waiting.find(b"\r\n\r\n")) >= 0:
            head = self.waiting[:head_end].lower()
            _, _, rest = head.partition(b"content-length:")
            end = head_end + 4 + int(rest.split(b"\r\n")[0] or 0)
            if len(self.waiting) < end:
                return
            self.waiting = self.waiting[end:]
            Instant.served += 1
            identity = b"chatcmpl-%05d" % (Instant.served % 100_000)
            self.transport.write(self.before + identity + self.after)  # type: ignore[attr-defined]


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Instant, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
