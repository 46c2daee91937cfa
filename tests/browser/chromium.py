"""The system's Chromium, driven by playwright."""

from __future__ import annotations

import os
import shutil
from typing import Any


def chromium() -> str | None:
    """Its path: `CHROMIUM` if set, else the one on this machine; None without."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def launch(playwright: Any) -> Any:
    return playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
