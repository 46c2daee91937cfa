"""Passkeys in a real browser, under the page's own content policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from drift.models import User
from tests.conftest import PASSWORD

pytestmark = pytest.mark.browser
KEY = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def page(browser: Any, alice: User, transactional_db: None, live_server: Any, settings: LazySettings) -> Iterator[Any]:
    """Signed in as Alice; what the console complains of fails the test."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(60_000)
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.goto(f"{live_server.url}/login")
    page.fill("#id_login", alice.username)
    page.fill("#id_password", PASSWORD)
    page.click("main button")
    page.wait_for_url(f"{live_server.url}/")
    yield page
    context.close()
    assert not complaints, complaints


def test_a_passkey_is_added_and_signs_in_without_a_password(page: Any, live_server: Any) -> None:
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})
    page.goto(f"{live_server.url}/account/2fa/webauthn/add/")
    if page.locator("#id_password").count():  # asked again who is there
        page.fill("#id_password", PASSWORD)
        page.click("main button[type=submit]")
    page.fill("#id_name", "Laptop")
    page.check("#id_passwordless")
    page.click("#mfa_webauthn_add")
    page.wait_for_url(lambda url: not url.endswith("/webauthn/add/"))
    page.goto(f"{live_server.url}/you/")
    assert "second factor protects" in page.content()

    page.locator("details.menu summary").click()
    page.locator("details.menu").get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login*")
    page.click("#passkey_login")
    page.wait_for_url(f"{live_server.url}/")
