"""The user of a connection, read from tables as the kernel writes them."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from asbuilt.board.connection import is_own

if TYPE_CHECKING:
    from pathlib import Path

HERE, PEER = ("127.0.0.1", 8711), ("127.0.0.1", 40000)
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
OURS, THEIRS = os.geteuid(), os.geteuid() + 1
MAPPED = "0000000000000000FFFF00000100007F"
# The other end is in the table too: the board's, which is always this user's.
BOARD = f"   0: 0100007F:2207 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 {OURS} 0 1\n"


def row(uid: int, state: str = "01", address: str = "0100007F", port: str = "9C40") -> str:
    ends = f"{address}:{port} {address}:2207"
    return f"   1: {ends} {state} 00000000:00000000 00:00000000 00000000 {uid} 0 2\n"


@pytest.mark.parametrize(
    ("rows", "is_answered"),
    [
        (row(OURS), True),
        (row(0), True),
        (row(THEIRS), False),
        ("", False),
        # A socket that its process has closed shows root as its owner.
        (row(0, state="04"), False),
        (row(0, state="06"), False),
        (row(OURS, port="9C41"), False),
        # A program whose sockets are of IPv6.
        (row(OURS, address=MAPPED), True),
        (row(THEIRS, address=MAPPED), False),
    ],
)
def test_only_an_established_connection_of_this_user_or_root_is_answered(
    rows: str,
    is_answered: bool,  # noqa: FBT001 - a row of the table
    tmp_path: Path,
) -> None:
    table = tmp_path / "tcp"
    table.write_text(HEAD + BOARD + rows, encoding="ascii")
    assert is_own(PEER, HERE, (table, tmp_path / "tcp6")) is is_answered


def test_where_the_kernel_has_no_table_the_cookie_alone_decides(tmp_path: Path) -> None:
    assert is_own(PEER, HERE, (tmp_path / "tcp",))


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_real_connection_of_this_process_is_its_own(family: socket.AddressFamily, host: str) -> None:
    try:
        server = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"NOT RUN: there is no {host} here")
    with server, socket.create_connection(server.getsockname()[:2]) as peer:
        line, _ = server.accept()
        with line:
            assert is_own(peer.getsockname()[:2], line.getsockname()[:2])
        peer.close()
        assert not is_own(("192.0.2.1", 9), server.getsockname()[:2])
