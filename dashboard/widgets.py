"""Widgets for what people and registries named."""

from __future__ import annotations

from typing import Any

from django import forms


class NamesSelect(forms.Select):
    """A choice between names: they are data, and only the empty option is ours to translate."""

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        if value:
            option["attrs"]["translate"] = "no"
        return option
