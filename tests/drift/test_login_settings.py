"""Single sign-on from the environment."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from drift import login_settings


def test_without_a_provider_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OIDC_SERVER_URL", raising=False)
    assert login_settings.oidc_apps() == []


def test_a_provider_needs_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OIDC_SERVER_URL", "https://id.example.org")
    with pytest.raises(ImproperlyConfigured, match="OIDC_CLIENT_ID"):
        login_settings.oidc_apps()
    monkeypatch.setenv("OIDC_CLIENT_ID", "tidegauge")
    monkeypatch.setenv("OIDC_CLIENT_SECRET", "s")
    monkeypatch.setenv("OIDC_NAME", "Example ID")
    (app,) = login_settings.oidc_apps()
    assert (app["name"], app["settings"]["oauth_pkce_enabled"]) == ("Example ID", True)


def test_a_provider_without_tls_is_refused_where_we_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_settings, "HTTPS", True)
    monkeypatch.setenv("OIDC_SERVER_URL", "http://id.example.org")
    with pytest.raises(ImproperlyConfigured, match="https"):
        login_settings.oidc_apps()
