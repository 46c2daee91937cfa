"""Triton reads the variable when it is imported, so these tests run in a process of their own that sets it first."""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"
