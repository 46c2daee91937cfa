"""A message laid out as plain text and as HTML, for mail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.template.loader import render_to_string


def as_text(message: Mapping[str, Any]) -> str:
    """Plain text: the same facts in the same order as the HTML."""
    return render_to_string("notify/message.txt", {"message": message}).strip() + "\n"


def as_html(message: Mapping[str, Any]) -> str:
    return render_to_string("notify/message.html", {"message": message})
