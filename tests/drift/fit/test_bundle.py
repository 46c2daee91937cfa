"""Evidence: made, checked anywhere, and broken by one flipped bit."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from drift.fit.bundle import COMMENT, BundleError, Piece, make, public_hex, signing_key, verify

NOW = datetime(2026, 11, 20, 12, 0, 1, tzinfo=UTC)
KEY = signing_key("a secret of an installation")
PIECES = [
    Piece(b'{"model": "gpt-x"}', b'{"choices": []}', {"id": "1", "identity": {"fingerprint": "fp_one"}}),
    Piece(b'{"model": "gpt-x"}', bytes(range(256)), {"id": "2", "identity": None}),
]


@pytest.fixture(scope="module")
def bundle() -> bytes:
    return make(PIECES, {"endpoint": "gpt-x"}, KEY, NOW)


def test_a_bundle_says_what_it_holds(bundle: bytes) -> None:
    found = verify(bundle)
    assert found.key == public_hex(KEY)
    assert found.made_at == NOW
    assert [answer["id"] for answer in found.answers] == ["1", "2"]
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:  # any tool can open it
        assert archive.read("answers/0002/response") == bytes(range(256))


def test_any_flipped_byte_fails(bundle: bytes) -> None:
    for place in range(len(bundle)):
        for bit in (0x01, 0x20):
            changed = bytearray(bundle)
            changed[place] ^= bit
            with pytest.raises(BundleError):
                verify(bytes(changed))


def test_what_is_cut_off_or_added_fails(bundle: bytes) -> None:
    for wrong in (b"", bundle[:-1], bundle + b"\0", bundle[COMMENT:], b"PK\x03\x04", bundle[:100]):
        with pytest.raises(BundleError):
            verify(wrong)


def test_another_signer_is_told_by_the_key(bundle: bytes, tmp_path: Path) -> None:
    forged = make(PIECES, {"endpoint": "gpt-x"}, Ed25519PrivateKey.generate(), NOW)
    assert verify(forged).key != public_hex(KEY)
    file = tmp_path / "forged.zip"
    file.write_bytes(forged)
    done = checked(file, "--key", public_hex(KEY))
    assert done.returncode == 1
    assert "NOT VALID" in done.stderr


def test_the_command_needs_no_installation(bundle: bytes, tmp_path: Path) -> None:
    file = tmp_path / "evidence.zip"
    file.write_bytes(bundle)
    done = checked(file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Valid: 2 answers")
    assert checked(file, "--key", public_hex(KEY)).returncode == 0
    file.write_bytes(bundle.replace(b"0001", b"0003", 1))
    assert checked(file).returncode == 1
    assert checked(tmp_path / "none.zip").returncode == 1


def checked(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command with an empty environment: no settings, no database."""
    return subprocess.run(
        [sys.executable, "manage.py", "verify-bundle", *map(str, arguments)],
        cwd=Path(__file__).parents[3],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
