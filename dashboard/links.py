"""Addresses that keep what the page shows: state lives in the query string."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def with_query(request: HttpRequest, **changes: Any) -> str:
    """This page's address with some parameters set; None removes one."""
    query = request.GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value is not None:
            query[name] = str(value)
    return f"{request.path}?{query.urlencode()}" if query else request.path


def back_to(request: HttpRequest, default: str) -> str:
    """Where a form asked to return to, if that is a page of ours."""
    wanted = request.POST.get("back", "")
    fine = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if wanted and fine else default


def is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
