"""Serve the board on this machine, and make links to it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import tzinfo
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.board import keys
from asbuilt.board.access import ENTER, Place
from asbuilt.board.app import Board
from asbuilt.board.reading import Reading
from asbuilt.board.stream import Changes
from asbuilt.errors import UsageWrong
from asbuilt.journal.engine.liveness import board_address, board_at
from asbuilt.journal.queries.facts_cache import Folds
from asbuilt.wiring import Journal

_EVERY: Final = ("0.0.0.0", "::", "*", "")  # noqa: S104 - they are refused


class Bind(NamedTuple):
    """Where the board listens. Beyond loopback it needs TLS files."""

    host: str = "127.0.0.1"
    port: int | None = None
    certificate: Path | None = None
    key: Path | None = None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return self.address in ("127.0.0.1", "::1")

    @property
    def address(self) -> str:
        """What is listened on. `localhost` may be two addresses; links have the first."""
        return "127.0.0.1" if self.host == "localhost" else self.host


def link_to(folder: Path, address: str) -> str:
    """Make a link that opens the board at an address, once."""
    return f"{address}{ENTER}{keys.new_token(folder)}"


def _place_of(folder: Path, bind: Bind) -> Place:
    """Return where the board answers, under which names, with the port and the cookie that are kept."""
    if not bind.is_local and not (bind.certificate and bind.key):
        raise UsageWrong(
            f"the board does not listen on {bind.host} without TLS",
            why="Everybody on that network could read the cookie, and with it answer questions in your name.",
            next_step="`asbuilt board --no-open` and an SSH tunnel; or name --certificate and --key.",
        )
    if bind.host in _EVERY:
        raise UsageWrong(
            f"the board does not listen on {bind.host}",
            why="It accepts requests for one host name only, the name in its links.",
            next_step=f"`asbuilt board --bind 10.0.0.5 --certificate {bind.certificate} --key {bind.key}`,"
            " with the name or address that browsers use.",
        )
    kept = keys.keys_in(folder, bind.port)
    scheme = "https" if bind.certificate else "http"
    host = f"[{bind.host}]" if ":" in bind.host else bind.address
    names = {host, "localhost"} if bind.is_local else {host}
    return Place(scheme, frozenset(f"{name}:{kept.port}" for name in names), kept.port, kept.cookie)


@contextmanager
def listening(folder: Path, bind: Bind) -> Iterator[tuple[Place, socket.socket]]:
    """Take the port before a link exists: a link to a port of another program would give it the token."""
    place = _place_of(folder, bind)
    with ExitStack() as stack:
        try:
            kind, _, _, _, end = socket.getaddrinfo(bind.address, place.port, type=socket.SOCK_STREAM)[0]
            line = stack.enter_context(socket.socket(kind))
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            line.bind(end)
            is_only = stack.enter_context(board_at(folder, place.address))
            line.listen()
        except OSError as error:
            raise UsageWrong(
                f"the board cannot listen on {bind.host}, port {place.port}: {error.strerror}",
                why="Another program may use this port.",
                next_step=f"`asbuilt board --port {8642 if place.port != 8642 else 8643}`",
            ) from error
        if not is_only:
            raise runs_already(board_address(folder))
        yield place, line


def runs_already(address: str) -> UsageWrong:
    """Return the refusal to start a second board."""
    return UsageWrong(
        f"a board runs already, at {address}",
        why="A user has one board.",
        next_step="`asbuilt board --print-link` signs in to it; Ctrl-C where it runs ends it.",
    )


def serve(
    journal: Journal, zone: tzinfo | None, folder: Path, bind: Bind, place: Place, line: socket.socket
) -> None:
    """Serve until the process gets the signal to end."""
    import uvicorn  # noqa: PLC0415 - only the board needs it, and it is an extra

    from asbuilt.board.connection import AnyConnection, OwnConnection  # noqa: PLC0415 - imports uvicorn

    changes = Changes(journal, lambda: server.should_exit)
    server = uvicorn.Server(
        uvicorn.Config(
            Board(Reading(*journal, zone, Folds(journal.blobs)), place, folder, changes),
            http=OwnConnection if bind.is_local else AnyConnection,
            # A warning is about the sender of a request, who is not the reader of this terminal.
            log_level="error",
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
    server.run([line])
