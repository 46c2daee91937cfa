"""Traps in token scores: values JSON cannot hold, placeholders, other shapes, broken characters."""

from __future__ import annotations

from typing import Any

from workers.simulate.cases.trap import Trap
from workers.simulate.draft import Draft
from workers.simulate.reply import score
from workers.simulate.wire import Wire, whole

SENTINELS = (-9999.0, -100.0, -3.4028234663852886e38, -0.25)
LOWEST = -9999.0


def failing(draft: Draft) -> Wire:
    """The server cannot write -inf into JSON and fails, whenever scores are asked for."""
    if not draft.reply.scored:
        return draft.plain()
    return whole({"detail": "Out of range float values are not JSON compliant"}, 500)


def poisoned(draft: Draft) -> Wire:
    """The server writes what no JSON allows."""
    return _with_scores(draft, lambda entry, at: {**entry, "logprob": (float("-inf"), float("nan"), -0.5)[at % 3]})


def sentinels(draft: Draft) -> Wire:
    """Placeholders instead of very small probabilities."""
    return _with_scores(draft, lambda entry, at: {**entry, "logprob": SENTINELS[at % len(SENTINELS)]})


def scaled_by_temperature(draft: Draft) -> Wire:
    """Scores after scaling by temperature 0: the chosen token is certain, all others impossible."""

    def degenerate(entry: dict[str, Any], at: int) -> dict[str, Any]:
        others = [{**other, "logprob": LOWEST} for other in entry["top_logprobs"][1:]]
        return {
            **entry,
            "logprob": 0.0,
            "top_logprobs": [{**other, "logprob": 0.0} for other in entry["top_logprobs"][:1]] + others,
        }

    return _with_scores(draft, degenerate)


def accepted_and_absent(draft: Draft) -> Wire:
    """The field is accepted; the scores are null in one answer and missing in the next."""
    choice = _choice(draft)
    if draft.index % 2 == 0:
        choice["logprobs"] = None
    else:
        choice.pop("logprobs")
    return draft.plain(choices=[choice])


def other_shapes(draft: Draft) -> Wire:
    """Lists side by side in one answer, an object where a list belongs in the next."""
    choice = _choice(draft)
    tokens = draft.reply.written.tokens
    if draft.index % 2 == 0:
        choice["logprobs"] = {
            "tokens": [token.text for token in tokens],
            "token_logprobs": [token.logprob for token in tokens],
            "top_logprobs": [dict(token.ranked) for token in tokens],
        }
    else:
        choice["logprobs"] = {"content": score(tokens[0])}
    return draft.plain(choices=[choice])


def split_characters(draft: Draft) -> Wire:
    """One emoji over three tokens: with its bytes, with its bytes lost, and with escapes for text."""
    content = [
        {"token": "\\xf0\\x9f", "logprob": -0.1, "bytes": [0xF0, 0x9F], "top_logprobs": []},
        {"token": "\ufffd", "logprob": -0.1, "bytes": [0x8C], "top_logprobs": []},
        {"token": "\ufffd", "logprob": -0.1, "bytes": [0xEF, 0xBF, 0xBD], "top_logprobs": []},
        {
            "token": "\ufffd",
            "logprob": -0.1,
            "bytes": None,
            "top_logprobs": [
                {"token": "\ufffd", "logprob": -0.1, "bytes": None},
                {"token": "\ufffd", "logprob": -2.0, "bytes": None},
            ],
        },
    ]
    choice = {**_choice(draft), "logprobs": {"content": content}}
    choice["message"] = {"role": "assistant", "content": "🌊"}
    return draft.plain(choices=[choice])


def _choice(draft: Draft) -> dict[str, Any]:
    message = {"role": "assistant", "content": draft.reply.written.text}
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": draft.reply.written.finish}


def _with_scores(draft: Draft, change: Any) -> Wire:
    if not draft.reply.scored:
        return draft.plain()
    content = [change(score(token), at) for at, token in enumerate(draft.reply.written.tokens)]
    return draft.plain(choices=[{**_choice(draft), "logprobs": {"content": content}}])


SCORES = {
    "b14": Trap(failing),
    "b14-poisoned": Trap(poisoned),
    "b15": Trap(sentinels),
    "b16": Trap(scaled_by_temperature),
    "b18": Trap(accepted_and_absent),
    "b19": Trap(other_shapes),
    "b20": Trap(split_characters),
}
