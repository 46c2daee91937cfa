"""Evidence that can be handed on: a zip file whose every byte is covered by one signature, checked without a network.

Layout: `manifest.json`, then for each answer `answers/NNNN/request` and `answers/NNNN/response`, bytes as sent and as
received. The zip's comment holds the Ed25519 public key and the signature over all bytes before the comment, its length
field included; whoever flips any byte breaks it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

FORMAT = "tidegauge-evidence-1"
MARK = b"tidegauge-ed25519 "
COMMENT = len(MARK) + 64 + 1 + 128
LARGEST = 512 * 1024 * 1024


class BundleError(ValueError):
    """The file is no bundle, or not as it was signed. The message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One answer: its bytes, and what is said of it (JSON values)."""

    request: bytes
    response: bytes
    about: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verified:
    """What a bundle that holds says. `key`: the signer's public key in hexadecimal."""

    key: str
    made_at: datetime
    about: dict[str, Any]
    answers: tuple[dict[str, Any], ...]


def signing_key(secret: str) -> Ed25519PrivateKey:
    """An installation's key, from its SECRET_KEY: the same for as long as that stays."""
    seed = HKDF(hashes.SHA256(), 32, salt=None, info=FORMAT.encode()).derive(secret.encode())
    return Ed25519PrivateKey.from_private_bytes(seed)


def public_hex(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()


def make(pieces: Sequence[Piece], about: dict[str, Any], key: Ed25519PrivateKey, now: datetime) -> bytes:
    """The bundle's bytes; `about` says what it is evidence of."""
    answers = []
    files: list[tuple[str, bytes]] = []
    for i, piece in enumerate(pieces, start=1):
        entry = dict(piece.about)
        for name, data in (("request", piece.request), ("response", piece.response)):
            path = f"answers/{i:04d}/{name}"
            entry[name] = {"file": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            files.append((path, data))
        answers.append(entry)
    manifest = {"format": FORMAT, "made_at": now.astimezone(UTC).isoformat(), "about": about, "answers": answers}
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry("manifest.json", now), json.dumps(manifest, indent=2, ensure_ascii=False).encode())
        for path, data in files:
            archive.writestr(_entry(path, now), data)
        archive.comment = bytes(COMMENT)
    signed = whole.getvalue()[:-COMMENT]
    return signed + MARK + public_hex(key).encode() + b" " + key.sign(signed).hex().encode()


def verify(data: bytes) -> Verified:
    """What the bundle says, if every byte is as it was signed. Raises BundleError."""
    if len(data) > LARGEST:
        raise BundleError("The file is too large for a bundle.")
    key = _signer(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(contents.pop("manifest.json"))
        return _agreeing(manifest, contents, key)
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, OSError, RuntimeError, NotImplementedError) as error:
        if isinstance(error, BundleError):
            raise
        raise BundleError(f"The signature holds, but the file is no bundle: {type(error).__name__}.") from error


def _signer(data: bytes) -> str:
    """The public key, if its signature holds."""
    signed, comment = data[:-COMMENT], data[-COMMENT:]
    if len(data) < COMMENT or not comment.startswith(MARK):
        raise BundleError("This is no evidence bundle, or its signature was cut off.")
    key, space, signature = comment[len(MARK) :].partition(b" ")
    try:
        if not (key == bytes.fromhex(key.decode()).hex().encode() and space):
            raise ValueError("not canonical")
        if signature != bytes.fromhex(signature.decode()).hex().encode():
            raise ValueError("not canonical")
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.decode())).verify(
            bytes.fromhex(signature.decode()), signed
        )
    except (ValueError, InvalidSignature) as error:
        raise BundleError("The signature does not fit: the file was changed after it was signed.") from error
    return key.decode()


def _agreeing(manifest: dict[str, Any], contents: dict[str, bytes], key: str) -> Verified:
    if manifest.get("format") != FORMAT:
        raise BundleError(f"The bundle is of another format: {manifest.get('format')!r}.")
    named = [entry[name] for entry in manifest["answers"] for name in ("request", "response")]
    for one in named:
        held = contents.get(one["file"])
        if held is None or hashlib.sha256(held).hexdigest() != one["sha256"]:
            raise BundleError(f"{one['file']} is not what the manifest says.")
    if set(contents) != {one["file"] for one in named}:
        raise BundleError("The bundle holds files that its manifest does not name.")
    return Verified(key, datetime.fromisoformat(manifest["made_at"]), manifest["about"], tuple(manifest["answers"]))


def _entry(path: str, now: datetime) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, date_time=now.astimezone(UTC).timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry
