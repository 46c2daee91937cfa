"""Speaks the language that the address asks for (`lang`), else the one in the person's settings, else what
`LocaleMiddleware` made of cookie and browser.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from drift.models import User


class LanguageMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        chosen = request.GET.get("lang") or getattr(request.user, "language", "")
        if chosen in dict(settings.LANGUAGES):
            translation.activate(chosen)
            request.LANGUAGE_CODE = chosen
        return self.get_response(request)


@require_POST
@login_not_required
def choose(request: HttpRequest) -> HttpResponse:
    """The switch under every page: kept in a cookie, and in the settings of who is signed in."""
    chosen = request.POST.get("language", "")
    if request.user.is_authenticated and chosen in dict(settings.LANGUAGES):
        User.objects.filter(pk=request.user.pk).update(language=chosen)
    answer: HttpResponse = set_language(request)
    return answer
