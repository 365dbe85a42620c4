"""Serve the board on this machine, and make links to it."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.board import keys
from asbuilt.board.access import ENTER, Place
from asbuilt.board.app import Board
from asbuilt.board.reading import Reading
from asbuilt.board.stream import Changes
from asbuilt.errors import UsageWrong
from asbuilt.journal.engine.liveness import board_at
from asbuilt.journal.queries.folds import Folds

if TYPE_CHECKING:
    from datetime import tzinfo
    from pathlib import Path

    from asbuilt.wiring import Journal


class Bind(NamedTuple):
    """Where the board listens. Beyond loopback it needs TLS files."""

    host: str = "127.0.0.1"
    port: int | None = None
    certificate: Path | None = None
    key: Path | None = None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return self.host in ("127.0.0.1", "localhost", "::1")


def link_to(folder: Path, bind: Bind) -> tuple[str, Place]:
    """Make a link that opens the board once, and the place that it leads to."""
    if not bind.is_local and not (bind.certificate and bind.key):
        raise UsageWrong(
            f"the board does not listen on {bind.host} without TLS",
            why="Everybody on that network could read the cookie, and with it answer questions in your name.",
            next_step="Use an SSH tunnel, or name --certificate and --key.",
        )
    kept = keys.keys_in(folder, bind.port)
    scheme = "https" if bind.certificate else "http"
    names = {"127.0.0.1", "localhost"} if bind.is_local else {bind.host}
    place = Place(scheme, frozenset(f"{name}:{kept.port}" for name in names), kept.port, kept.cookie)
    return f"{place.address}{ENTER}{keys.new_token(folder)}", place


def is_served(place: Place, host: str) -> bool:
    """Whether a server listens there already."""
    with socket.socket() as asked:
        asked.settimeout(1)
        return asked.connect_ex((host, place.port)) == 0


def serve(journal: Journal, zone: tzinfo | None, folder: Path, bind: Bind, place: Place) -> None:
    """Serve until the process gets the signal to end."""
    import uvicorn  # noqa: PLC0415 - only the board needs it, and it is an extra

    changes = Changes(journal, lambda: server.should_exit)
    server = uvicorn.Server(
        uvicorn.Config(
            Board(Reading(*journal, zone, Folds(journal.blobs)), place, folder, changes),
            host=bind.host,
            port=place.port,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=16 * 1024,
            ssl_certfile=bind.certificate,
            ssl_keyfile=bind.key,
        )
    )
    with board_at(folder, place.address):
        server.run()
