"""`manage.py verify-bundle FILE`: is this evidence as it was signed? Needs no settings, no database and no network."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from drift.fit.bundle import BundleError, verify


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path)
    parser.add_argument("--key", help="the signer's public key, as its installation shows it under Fit")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="manage.py verify-bundle", description=__doc__)
    add_arguments(parser)
    options = parser.parse_args(arguments)
    return perform(options.file, options.key)


def perform(file: Path, key: str | None) -> int:
    """Prints what was found; 0 for a bundle that holds, 1 for one that does not."""
    try:
        found = verify(file.read_bytes())
    except OSError as error:
        print(f"{file} cannot be read: {error.strerror}.", file=sys.stderr)
        return 1
    except BundleError as error:
        print(f"NOT VALID. {error}", file=sys.stderr)
        return 1
    if key and key.lower() != found.key:
        print(f"NOT VALID. The file holds together, but {found.key} signed it, not the key given.", file=sys.stderr)
        return 1
    about = ", ".join(f"{name} {value}" for name, value in found.about.items() if isinstance(value, str) and value)
    print(f"Valid: {len(found.answers)} answers, signed {found.made_at:%-d %b %Y %H:%M} UTC. {about}")
    if not key:
        print(f"Signed by {found.key}. Compare that with what the signer's installation shows under Fit.")
    return 0
