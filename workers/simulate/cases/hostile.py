"""Bodies made to break whoever reads them. Each call brings the next one."""

from __future__ import annotations

import gzip

from workers.simulate.cases.trap import Trap
from workers.simulate.draft import Draft
from workers.simulate.reply import completion
from workers.simulate.wire import SIMULATED, Wire, as_json, whole

DEPTH = 100_000


def hostile(draft: Draft) -> Wire:
    """Number `index` of the list, over and over."""
    good = as_json(completion(draft.reply))
    bodies: tuple[Wire, ...] = (
        whole("[" * DEPTH + "]" * DEPTH),
        whole('{"choices":' + "9" * 100_000 + "}"),
        whole(good.encode()[:-7] + b"\xff\xfe}"),
        whole(good[: len(good) // 2]),
        whole("\ufeff" + good),
        whole(good.encode("utf-16")),
        whole('"just a string"'),
        whole("[]"),
        whole('{"choices":[{"message":{"content":{"content":{"content":"deep"}}}}]}'),
        whole('{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":["stop"]}],"usage":[],"model":7}'),
        whole("data: {}\n\n" * 1000 + "data: [DONE]\n\n"),
        whole("data: not json\n\ndata: [DONE]\n\n", content_type="text/event-stream"),
        whole(gzip.compress(b" " * 20_000_000), headers=[("content-encoding", "gzip")]),
        whole(good, headers=[("x-request-id", "é" * 300), ("location", "http://[")]),
        whole(good, headers=[(f"x-ratelimit-{number}", "x" * 200) for number in range(80)]),
        Wire(200, (("content-length", "999999"), SIMULATED), ((0.0, good.encode()),), closes=True),
        Wire(200, (("content-length", "not a number"), SIMULATED), ((0.0, good.encode()),), closes=True),
        Wire(204, (SIMULATED,), (), closes=True),
        Wire(999, (("content-length", "2"), SIMULATED), ((0.0, b"{}"),)),
    )
    return bodies[draft.index % len(bodies)]


HOSTILE = {"hostile": Trap(hostile)}
HOSTILE_BODIES = 19
