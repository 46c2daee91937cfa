"""Encrypts every stored secret again with the newest key, so that older keys can be thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import models, transaction

from drift.secrets import EncryptedField, decrypt, encrypt

IN_JSON = (("mfa", "Authenticator", "data", ("secret", "seed")),)  # texts encrypted inside a JSON column


def rotate() -> dict[str, int]:
    """{place: secrets encrypted again}, in one transaction. Raises ImproperlyConfigured if a key is missing."""
    with transaction.atomic():
        done = {f"{model._meta.db_table}.{field.name}": _column(model, field) for model, field in encrypted_fields()}
        for label, name, column, keys in IN_JSON:
            done[f"{label}.{name}.{column}"] = _json(apps.get_model(label, name), column, keys)
    return done


def encrypted_fields() -> Iterator[tuple[type[models.Model], EncryptedField]]:
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if isinstance(field, EncryptedField):
                yield model, field


def _column(model: type[models.Model], field: EncryptedField) -> int:
    rows = model._default_manager.select_for_update().order_by("pk")
    count = 0
    for pk, secret in rows.values_list("pk", field.attname):
        if secret:
            model._default_manager.filter(pk=pk).update(**{field.attname: secret})
            count += 1
    return count


def _json(model: type[models.Model], column: str, keys: tuple[str, ...]) -> int:
    count = 0
    for row in model._default_manager.select_for_update().order_by("pk"):
        value: dict[str, Any] = getattr(row, column)
        for key in keys:
            if isinstance(value.get(key), str):
                value[key] = encrypt(decrypt(value[key].encode())).decode()
                count += 1
        row.save(update_fields=[column])
    return count
