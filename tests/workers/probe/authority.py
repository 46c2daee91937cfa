"""A certificate authority of our own, made for one test."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Issues server certificates; `pem` is what a client has to trust."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        builder = self._builder(self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        self._certificate = builder.add_extension(usage, critical=True).sign(self._key, hashes.SHA256())
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def server_context(self, host: str) -> ssl.SSLContext:
        """The TLS context of a server that proves to be `host`."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(x509.Name([]), key.public_key())
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=True)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = builder.add_extension(issuer, critical=False).sign(self._key, hashes.SHA256())
        path = self._folder / f"{host}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key)
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
