"""Hosts that a sandboxed process may reach, and the parser of its requests to the proxy. Pure.

Rules: an entry matches a host by its whole name and port, or by `*.` and whole labels. A numeric address
matches only if it is listed itself. No part of a request is forwarded that was not parsed here.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

HEAD_BYTES: Final = 16_384
HELLO_BYTES: Final = 18_000
_LABEL: Final = r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_NAME: Final = rf"{_LABEL}(?:\.{_LABEL})*"
_CONNECT: Final = re.compile(
    rf"CONNECT ({_NAME}|[0-9.]+|\[[0-9a-f:.]+\]):([0-9]{{1,5}}) HTTP/1\.[01]", re.IGNORECASE
)
_PLAIN: Final = re.compile(
    rf"([A-Z]{{3,7}}) http://({_NAME}|[0-9.]+)(?::([0-9]{{1,5}}))?(/[!-~]*)? HTTP/1\.[01]", re.IGNORECASE
)
_FIELD: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t \x21-\x7e\x80-\xff]*")
_ENTRY: Final = re.compile(
    rf"(?P<scheme>https?://)?(?P<host>\*\.{_NAME}|{_NAME}|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{{1,5}}))?/?",
    re.IGNORECASE,
)
_UPSTREAM: Final = re.compile(rf"(?:http://)?({_NAME}|[0-9.]+)(?::([0-9]{{1,5}}))?/?", re.IGNORECASE)
_HOP: Final = (b"host:", b"connection:", b"keep-alive:", b"proxy-", b"te:", b"trailer:", b"upgrade:")
_LENGTHS: Final = (b"content-length:", b"transfer-encoding:")
_FIGURES: Final = re.compile(r"[0-9.]+|0x[0-9a-f]+|\[.*\]", re.IGNORECASE)
# NAT64, and ranges that Python 3.11 reports as public: documentation, segment routing.
_RESERVED: Final = tuple(map(ipaddress.ip_network, ("64:ff9b::/32", "3fff::/20", "5f00::/16")))
_HTTP, _HTTPS, _LAST_PORT = 80, 443, 65_535
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "[::1]"))


class Refused(Exception):
    """Why a request is refused; sent to the process that made it."""


class Host(NamedTuple):
    """One entry of the allow-list."""

    name: str
    """In lower case; `*.name` matches everything below it."""
    port: int
    is_private: bool = False
    """The user gave it with a port, so it may be an address of this machine or its network."""

    @property
    def is_here(self) -> bool:
        """Whether it is a port of this machine's loopback."""
        return self.name in _LOOPBACK

    def fits(self, host: str, port: int) -> bool:
        """Return whether the entry matches, by whole labels."""
        is_below = self.name.startswith("*.") and host.endswith(self.name[1:])
        return port == self.port and (host == self.name or is_below)


class Asked(NamedTuple):
    """A request to the proxy."""

    host: str
    port: int
    head: bytes = b""
    """Of a plain HTTP request, as it is forwarded; empty for CONNECT, after which the process speaks TLS."""


def host_in(text: str) -> Host | None:
    """Parse an entry: `name`, `name:port`, `*.name`, or a URL of a model's gateway; None if invalid.

    A name with a port may be private. Without a port, only public addresses are reached, on port 443 (80 for
    an `http://` URL).
    """
    match = _ENTRY.fullmatch(text.strip())
    if match is None:
        return None
    scheme, name = (match["scheme"] or "").lower(), match["host"].lower()
    port = int(match["port"] or (_HTTP if scheme == "http://" else _HTTPS))
    if not 0 < port <= _LAST_PORT or (_FIGURES.fullmatch(name) and not match["port"]):
        return None
    return Host(name, port, is_private=match["port"] is not None and not name.startswith("*."))


def hosts_named(texts: Iterable[str]) -> tuple[Host, ...]:
    """Parse the entries of a list; invalid ones are left out."""
    return tuple(host for host in map(host_in, texts) if host is not None)


def upstream_in(environment: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the proxy by which a company's machine reaches other hosts, from the usual variables."""
    values = (environment.get(name, "") for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"))
    found = next((match for match in map(_UPSTREAM.fullmatch, values) if match is not None), None)
    return (found[1], int(found[2] or _HTTP)) if found else None


def is_public(text: str) -> bool:
    """Return whether an address is public; one that wraps an IPv4 address is judged by that."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if any(address in net for net in _RESERVED) or address.teredo or address.is_site_local:
            return False
        if int(address) < 1 << 32:
            return False
        inner = address.ipv4_mapped or address.sixtofour
        if inner is not None:
            return is_public(str(inner))
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def request_in(head: bytes) -> Asked:
    """Parse the head of a request, without its last empty line; raises `Refused`."""
    line, *fields = head.split(b"\r\n")
    text = line.decode("ascii", "backslashreplace")
    if not all(_FIELD.fullmatch(field) for field in fields):
        raise Refused("a header that is not one")
    if tunnel := _CONNECT.fullmatch(text):
        return Asked(tunnel[1].lower(), int(tunnel[2]))
    asked = _PLAIN.fullmatch(text)
    if asked is None:
        raise Refused("neither CONNECT host:port nor http://host/")
    kept = [field for field in fields if not field.lower().startswith(_HOP)]
    if sum(field.lower().startswith(_LENGTHS) for field in kept) > 1:
        raise Refused("two lengths of one body")
    host, port = asked[2].lower(), int(asked[3] or _HTTP)
    # One request per connection: a second one could be addressed to another host.
    first = f"{asked[1]} {asked[4] or '/'} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close".encode()
    return Asked(host, port, b"\r\n".join([first, *kept]) + b"\r\n\r\n")


def listed(hosts: tuple[Host, ...], host: str, port: int) -> Host:
    """Return the entry that allows a request; raises `Refused`."""
    found = [rule for rule in hosts if rule.fits(host, port)]
    if not found:
        raise Refused("it is not on the list")
    # A private entry wins over a public one, and an exact name over a wildcard.
    return max(found, key=lambda rule: (rule.is_private, rule.name == host))


def server_name(data: bytes) -> str | None:
    """Return the server name of a TLS connection, from its first bytes; None: more bytes are needed."""
    if len(data) < 5:
        return None
    if data[0] != 22 or data[1] != 3:
        raise Refused("not TLS")
    size = int.from_bytes(data[3:5], "big")
    if len(data) < 5 + size:
        return None
    try:
        return _name_in(data[5 : 5 + size], size)
    except (IndexError, UnicodeDecodeError) as error:
        raise Refused("a broken ClientHello") from error


def _name_in(hello: bytes, size: int) -> str:
    if hello[0] != 1 or int.from_bytes(hello[1:4], "big") + 4 > size:
        raise Refused("no whole ClientHello in one record")
    at = 39 + hello[38]
    at += 2 + int.from_bytes(hello[at : at + 2], "big")
    at += 1 + hello[at]
    end = at + 2 + int.from_bytes(hello[at : at + 2], "big")
    at += 2
    while at + 4 <= end:
        kind, length = (int.from_bytes(hello[here : here + 2], "big") for here in (at, at + 2))
        if kind == 0:
            return hello[at + 9 : at + 4 + length].decode("ascii").lower()
        at += 4 + length
    raise Refused("a ClientHello without a server name")
