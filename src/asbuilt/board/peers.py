"""Find the user of the process at the other end of a connection on this machine.

A browser sends the cookie to every port of 127.0.0.1, and a link is on the browser's command line. Another
user of the machine can read both, so the board also checks the user of each connection. Linux only.
"""

from __future__ import annotations

import os
import struct
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    End = tuple[str, int]

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
