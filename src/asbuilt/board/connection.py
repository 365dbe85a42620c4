"""Connections to the board: of this user alone, and none that stays silent.

A browser sends the cookie to every port of 127.0.0.1, and a link is on the browser's command line. Another
user of the machine can read both, so the board also checks the user of each connection. Linux only.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    End = tuple[str, int]

SILENT_S: Final = 30.0
"""A connection without a complete request is closed after this time."""


class AnyConnection(H11Protocol):
    """A connection that has to send a request in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its parent
        """Start the clock."""
        super().connection_made(transport)
        self.loop.call_later(SILENT_S, self._close_silent)

    def _close_silent(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self.transport.abort()


class OwnConnection(AnyConnection):
    """A connection of this user, on loopback. Others are closed before they are read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its parent
        """Compare the users."""
        super().connection_made(transport)
        if not self._is_own(transport):
            transport.abort()

    @staticmethod
    def _is_own(transport: asyncio.Transport) -> bool:
        """Return False also for a connection whose other end is gone, or while no file can be opened."""
        peer, here = (transport.get_extra_info(name) for name in ("peername", "sockname"))
        try:
            return bool(peer and here) and is_own(peer[:2], here[:2])
        except OSError:
            return False


_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ESTABLISHED: Final = "01"
_MAPPED: Final = b"\0" * 10 + b"\xff\xff"


def is_own(peer: End, here: End, tables: Iterable[Path] = _TABLES) -> bool:
    """Whether the peer's process belongs to this user or to root; True where no table exists."""
    existing = [table for table in tables if table.exists()]
    if not existing:
        return True
    owner = _owner(existing, peer, here)
    if owner == 0:
        # A socket that is being closed can show root as its owner. It is not established when read again.
        owner = _owner(existing, peer, here)
    return owner in (0, os.geteuid())


def _owner(tables: Iterable[Path], peer: End, here: End) -> int | None:
    """Return the user of an established connection; None if no table has it."""
    ends = {(_written(peer, is_mapped=mapped), _written(here, is_mapped=mapped)) for mapped in (False, True)}
    for table in tables:
        for row in table.read_text(encoding="ascii").splitlines():
            cells = row.split()
            if (cells[1], cells[2]) in ends and cells[3] == _ESTABLISHED:
                return int(cells[7])
    return None


def _written(end: End, *, is_mapped: bool) -> str:
    """Write an address as the tables do: words of 4 bytes in the machine's order; IPv4 also inside IPv6."""
    address = ip_address(end[0])
    packed = (_MAPPED if is_mapped and isinstance(address, IPv4Address) else b"") + address.packed
    words = "".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", packed))
    return f"{words}:{end[1]:04X}"
