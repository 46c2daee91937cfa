"""Secrets at rest: encrypted with the newest key, readable with any key of the ring, never shown again."""

from __future__ import annotations

from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models


def _ring() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.FIELD_ENCRYPTION_KEYS])


def encrypt(secret: str) -> bytes:
    return _ring().encrypt(secret.encode())


def decrypt(token: bytes) -> str:
    """Raises ImproperlyConfigured if no key of the ring fits."""
    try:
        return _ring().decrypt(token).decode()
    except InvalidToken as error:
        raise ImproperlyConfigured(
            "A stored secret needs a key that is not in FIELD_ENCRYPTION_KEYS. Add the old key to the list."
        ) from error


class Secret(str):
    """A decrypted secret. `repr` and formatting hide it; `reveal()` is the one way to the text."""

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __str__(self) -> str:
        return "hidden" if len(self) else ""

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def reveal(self) -> str:
        return str.__str__(self)


class EncryptedField(models.Field):  # type: ignore[type-arg]
    """Text kept encrypted in a bytea column and handed out as `Secret`."""

    def db_type(self, connection: Any) -> str:
        return "bytea"

    def get_prep_value(self, value: Any) -> bytes | None:
        if value is None:
            return None
        text = value.reveal() if isinstance(value, Secret) else value
        return encrypt(text) if text else b""

    def from_db_value(self, value: bytes | memoryview | None, expression: Any, connection: Any) -> Secret | None:
        if value is None:
            return None
        return Secret(decrypt(bytes(value))) if len(value) else Secret("")

    def value_to_string(self, obj: models.Model) -> str:
        raise TypeError("secrets are not serialised")
