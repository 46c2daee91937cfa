"""How people sign in: password, authenticator app, passkey, or the organisation's own OpenID Connect provider."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from drift import environment

HTTPS = environment.switch("HTTPS", False)

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
ACCOUNT_ADAPTER = "dashboard.accounts.AccountAdapter"
ACCOUNT_FORMS = {"login": "dashboard.team_forms.SignInForm"}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"  # addresses come from invitations, administrators or a trusted provider
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900
ACCOUNT_RATE_LIMITS = {"login": "30/m/ip", "login_failed": "10/m/ip,5/5m/key", "reset_password": "10/m/ip,5/h/key"}
# How many of our own proxies add to X-Forwarded-For; without one the address of the connection counts.
ALLAUTH_TRUSTED_PROXY_COUNT = environment.number("TRUSTED_PROXIES", 0)

MFA_ADAPTER = "dashboard.accounts.MfaAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Tidegauge"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # browsers accept passkeys on http://localhost only

USERSESSIONS_TRACK_ACTIVITY = False

SOCIALACCOUNT_ADAPTER = "dashboard.accounts.SocialAdapter"
SOCIALACCOUNT_ONLY = False
SOCIALACCOUNT_LOGIN_ON_GET = False
SOCIALACCOUNT_QUERY_EMAIL = True
# An address that the provider says it verified is the account with that address.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = environment.switch("OIDC_MATCH_EMAIL", True)
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = SOCIALACCOUNT_EMAIL_AUTHENTICATION
# Whether whoever the provider lets in gets an account; else only people who were invited.
OIDC_SIGNUP = environment.switch("OIDC_SIGNUP", False)


def oidc_apps() -> list[dict[str, Any]]:
    """One provider from OIDC_SERVER_URL, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET (or _FILE), OIDC_NAME."""
    server = environment.text("OIDC_SERVER_URL", "")
    if not server:
        return []
    if not server.startswith("https://") and HTTPS:
        raise ImproperlyConfigured("OIDC_SERVER_URL must begin with https://")
    return [
        {
            "provider_id": "oidc",
            "name": environment.text("OIDC_NAME", "single sign-on"),
            "client_id": environment.text("OIDC_CLIENT_ID"),
            "secret": environment.text("OIDC_CLIENT_SECRET"),
            "settings": {"server_url": server, "oauth_pkce_enabled": True},
        }
    ]


SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": oidc_apps(), "OAUTH_PKCE_ENABLED": True}}
