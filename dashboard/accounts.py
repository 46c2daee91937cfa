"""Our rules inside django-allauth: accounts by invitation, secrets encrypted at rest."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from drift import secrets


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Nobody signs up by themselves: an invitation's page makes the account."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": _("Please enter a correct username and password."),
        "username_email_password_mismatch": _("Please enter a correct username and password."),
        "email_password_mismatch": _("Please enter a correct username and password."),
        "invalid_login": _("Please enter a correct username and password."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """A stranger from the provider gets an account only where that was switched on, or with an invitation in hand."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return bool(settings.OIDC_SIGNUP or request.session.get("invitation"))


class MfaAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Authenticator secrets and recovery seeds lie in the database under the same keys as API keys."""

    def encrypt(self, text: str) -> str:
        return secrets.encrypt(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return secrets.decrypt(encrypted_text.encode())
