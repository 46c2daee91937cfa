"""Where the published data lies: beside the repository, never in it. The made samples lie beside this file."""

import csv
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
MADE = Path(__file__).resolve().parent / "made"


def published(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"published data set {name} is not in ../shared/data; its README says where it comes from")
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
