"""Which network addresses a user-entered endpoint may lead to.

Pure rules: no DNS, no HTTP. The form asks `read_base_url` and `AddressRule.refusal_of_literal` when a person
types an address; the prober asks `AddressRule.refusal` about every address a name resolved to, at the moment
it connects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from urllib.parse import SplitResult, urlsplit, urlunsplit

from django.utils.translation import gettext, gettext_noop

from drift.said import said

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64 = IPv6Network("64:ff9b::/96")
_PASTED_ROUTES = ("/chat/completions", "/completions", "/responses", "/models", "/embeddings")


class AddressError(ValueError):
    """An address that cannot be used; the message says why and what to enter instead."""


@dataclass(frozen=True, slots=True)
class AddressRule:
    """What an administrator allows beyond the public internet. Empty: public addresses only.

    A listed network opens exactly its addresses. A listed host name may resolve to private or loopback
    addresses, but not to link-local ones (cloud metadata lives there): those need their network listed.
    """

    networks: tuple[Network, ...] = ()
    hosts: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, entries: Iterable[str]) -> AddressRule:
        """Reads CIDRs (`10.0.0.0/8`), single addresses (`::1`) and host names. Raises `AddressError`."""
        networks: list[Network] = []
        hosts: set[str] = set()
        for entry in (text.strip() for text in entries):
            if not entry:
                continue
            try:
                networks.append(ip_network(entry, strict=False))
            except ValueError:
                if "/" in entry or ":" in entry or " " in entry:
                    raise AddressError(
                        gettext(
                            "'{entry}' is neither a network such as 10.0.0.0/8, nor an address, nor a host name."
                        ).format(entry=entry)
                    ) from None
                hosts.add(entry.lower().rstrip("."))
        return cls(tuple(networks), frozenset(hosts))

    def refusal(self, host: str, address: str) -> str | None:
        """Why `host`, which resolved to `address`, must not be contacted; None when it may be."""
        try:
            real = ip_address(address.partition("%")[0])
        except ValueError:
            return said(
                gettext_noop("{host} resolved to '{address}', which is not an IP address."), host=host, address=address
            )
        if any(_within(candidate, network) for candidate in (real, _embedded(real)) for network in self.networks):
            return None
        kind = _private_kind(real)
        if kind is None:
            return None
        if host.lower().rstrip(".") in self.hosts and kind in ("loopback", "private"):
            return None
        if host == address:
            where = said(gettext_noop("{host} is a {kind} address."), host=host, kind=said(kind))
        else:
            where = said(
                gettext_noop("{host} resolves to {address}, which is a {kind} address."),
                host=host,
                address=address,
                kind=said(kind),
            )
        return said(
            gettext_noop(
                "{where} Endpoints on private networks must be on the allow list: "
                "ask an administrator to add its network or host name to ALLOW_PRIVATE_TARGETS."
            ),
            where=where,
        )

    def refusal_of_literal(self, base_url: str) -> str | None:
        """As `refusal`, for what can be told without DNS: an address written as a number, or `localhost`."""
        host = urlsplit(base_url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return self.refusal(host, "127.0.0.1")
        try:
            ip_address(host)
        except ValueError:
            return None
        return self.refusal(host, host)


def read_base_url(text: str) -> str:
    """The base URL a person meant: scheme checked, a pasted route and trailing slash removed. Raises
    `AddressError`.
    """
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError as error:
        raise AddressError(
            gettext("'{text}' is not a valid address: {error}.").format(text=text.strip(), error=error)
        ) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AddressError(gettext("Enter the full address, for example https://api.example.com/v1."))
    if parts.username is not None or parts.password is not None:
        raise AddressError(gettext("Leave user name and password out of the address; put the key into its own field."))
    if port == 0:
        raise AddressError(gettext("Port 0 cannot be connected to."))
    if any(character.isspace() or ord(character) < 32 for character in parts.netloc + parts.path):
        raise AddressError(gettext("The address contains a space or a control character."))
    path = parts.path.rstrip("/")
    for route in _PASTED_ROUTES:
        if path.endswith(route):
            path = path[: -len(route)]
            break
    return urlunsplit(SplitResult(parts.scheme, parts.netloc, path.rstrip("/"), parts.query, ""))


def _within(address: Address | None, network: Network) -> bool:
    return address is not None and address.version == network.version and address in network


def _embedded(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for: mapped, 6to4, NAT64 or Teredo."""
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return None


def _private_kind(address: Address) -> str | None:
    """The word for a non-public address, None for a public one."""
    embedded = _embedded(address)
    if embedded is not None:
        return _private_kind(embedded)
    if address.is_unspecified:
        return gettext_noop("unspecified")
    if address.is_loopback:
        return gettext_noop("loopback")
    if address.is_link_local:
        return gettext_noop("link-local")
    if address.is_multicast:
        return gettext_noop("multicast")
    if not address.is_global:
        return gettext_noop("private")
    return None
