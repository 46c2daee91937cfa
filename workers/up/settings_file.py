"""`.data/settings.env`: what Django reads on this machine, secrets included."""

from __future__ import annotations

import secrets

from workers.up.places import SETTINGS


def read_settings() -> dict[str, str]:
    lines = SETTINGS.read_text().splitlines() if SETTINGS.exists() else []
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def write_settings(**values: str) -> dict[str, str]:
    """Adds to `.data/settings.env` what is missing, makes its secrets once, and returns it whole."""
    from cryptography.fernet import Fernet

    current = read_settings()
    made = {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "FIELD_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "ALLOW_PRIVATE_TARGETS": "127.0.0.1/32,::1/128",
    }
    merged = {**made, **current, **values}
    if merged != current:
        text = "# Written by `make up`. Keep it secret; without FIELD_ENCRYPTION_KEYS stored API keys are lost.\n"
        SETTINGS.touch(mode=0o600)
        SETTINGS.write_text(text + "".join(f"{name}={value}\n" for name, value in merged.items()))
    return merged
