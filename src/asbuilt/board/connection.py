"""Connections to the board: of this user alone, and none that stays silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from asbuilt.board.peers import is_own

if TYPE_CHECKING:
    import asyncio

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
