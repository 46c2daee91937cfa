"""Serves the plotly browser bundle from the installed wheel, so that no copy of it lives here and no CDN is asked."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

BUNDLE = "plotly.min.js"


class PlotlyFinder(BaseFinder):
    """Finds `plotly/plotly.min.js` and nothing else of the wheel."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.storage = FileSystemStorage(location=str(files("plotly") / "package_data"))
        self.storage.prefix = "plotly"  # type: ignore[attr-defined]

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != f"plotly/{BUNDLE}":
            return []
        found = self.storage.path(BUNDLE)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[Any]:
        yield BUNDLE, self.storage
