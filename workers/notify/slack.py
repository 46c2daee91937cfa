"""Slack's incoming webhooks, laid out with Block Kit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, gettext_noop

from drift.models import Delivery
from drift.said import said
from workers.notify.errors import TransportError
from workers.notify.http import post

# https://api.slack.com/messaging/webhooks#handling_errors
GONE = ("invalid_token", "no_service", "no_team", "channel_not_found", "channel_is_archived", "action_prohibited")
LONGEST_HEADER = 150
LONGEST_SECTION = 2900


def send(address: str, delivery: Delivery, message: Mapping[str, Any]) -> None:
    """Posts one message. 404, 410 and the errors that name a revoked hook are permanent."""
    headers = {"content-type": "application/json", "x-tidegauge-delivery": str(delivery.public_id)}
    answer = post(address, json.dumps(layout(message)).encode(), headers)
    if 200 <= answer.status < 300:
        return
    told = answer.text.strip()[:120]
    gone = answer.status in (404, 410) or (400 <= answer.status < 500 and any(word in told for word in GONE))
    raise TransportError(
        said(gettext_noop("Slack answered {status} {answer}"), status=answer.status, answer=told), permanent=gone
    )


def layout(message: Mapping[str, Any]) -> dict[str, Any]:
    """Blocks: what happened, the sentences, before and after, what to do, buttons. `text` is for notifications."""
    title = (
        gettext("[simulated] {title}").format(title=message["title"]) if message.get("simulated") else message["title"]
    )
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": title[:LONGEST_HEADER]}},
        _section("\n".join(escaped(line) for line in message["text"])),
    ]
    if message.get("voids"):
        blocks.append(_section(f"*{escaped(message['voids'])}*"))
    if message.get("before") or message.get("after"):
        before, after = (", ".join(message.get(side) or ["–"]) for side in ("before", "after"))
        blocks.append(
            {
                "type": "section",
                "fields": [
                    {"type": "mrkdwn", "text": gettext("*Before*\n{names}").format(names=_code(before))},
                    {"type": "mrkdwn", "text": gettext("*After*\n{names}").format(names=_code(after))},
                ],
            }
        )
    if example := message.get("example"):
        shared = f"…{example['shared']}"
        old, new = (f"{shared}⟦{example[f'{side}_token']}⟧{example[f'{side}_rest']}" for side in ("old", "new"))
        canary = escaped(gettext("Canary “{name}”, before and after").format(name=example["canary"]))
        blocks.append(_section(f"{canary}\n```{_fenced(old)}\n\n{_fenced(new)}```"))
    if message.get("advice"):
        blocks.append(_section(gettext("*What to do:* {advice}").format(advice=escaped(message["advice"]))))
    remarks = [escaped(message[name]) for name in ("severity_word", "sure") if message.get(name)]
    blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": " · ".join(remarks)[:LONGEST_SECTION]}]})
    if message.get("links"):
        blocks.append(
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "text": {"type": "plain_text", "text": link["label"][:75]},
                        "url": link["url"][:3000],
                        "action_id": f"open-{number}",
                    }
                    for number, link in enumerate(message["links"][:5])
                ],
            }
        )
    return {"text": escaped(title), "blocks": blocks}


def escaped(text: str) -> str:
    """Slack's three control characters; what a model or a provider told must not mention @channel or fake a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[:LONGEST_SECTION] or " "}}


def _code(text: str) -> str:
    return f"`{escaped(text).replace('`', chr(0x2019))}`"


def _fenced(text: str) -> str:
    return escaped(text).replace("```", "'''")[:1200]
