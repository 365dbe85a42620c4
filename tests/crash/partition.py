"""A network namespace for a worker, whose only way out is a link to the database. Cut, nothing comes back."""

from __future__ import annotations

import os
import selectors
import shutil
import socket
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from psycopg.conninfo import conninfo_to_dict

CANNOT: Final = next(
    (
        reason
        for missing, reason in (
            (os.geteuid() != 0, "a network namespace needs root"),
            (shutil.which("ip") is None, "a network namespace needs iproute2"),
        )
        if missing
    ),
    "",
)
"""Why no namespace can be made here; empty when one can."""


class Partition:
    """One namespace, one link, and a door to Postgres at the other end of it."""

    def __init__(self, url: str) -> None:
        number = os.getpid() % 60_000
        self.name = f"asbuilt-{number}"
        self._link, inner = f"ab{number}o", f"ab{number}i"
        subnet = f"10.{200 + number % 50}.{number // 50 % 250}"
        self._door = socket.create_server((self._made(inner, subnet), 0))
        self._url = url
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        """The database as it is reached from inside."""
        host, port = self._door.getsockname()
        return f"postgresql://{_user(self._url)}@{host}:{port}/{_database(self._url)}"

    def enter(self) -> tuple[str, ...]:
        """Give the words that start a program inside."""
        return ("ip", "netns", "exec", self.name)

    def cut(self) -> None:
        """Take the link down: no packet passes, and nobody is told."""
        _ip("link", "set", self._link, "down")

    def heal(self) -> None:
        """Put the link up again."""
        _ip("link", "set", self._link, "up")

    def close(self) -> None:
        """Remove it all."""
        self._door.close()
        _ip("netns", "delete", self.name)
        with suppress(subprocess.CalledProcessError):
            _ip("link", "delete", self._link)

    def _made(self, inner: str, subnet: str) -> str:
        _ip("netns", "add", self.name)
        _ip("link", "add", self._link, "type", "veth", "peer", "name", inner, "netns", self.name)
        _ip("addr", "add", f"{subnet}.1/30", "dev", self._link)
        _ip("link", "set", self._link, "up")
        _ip("-n", self.name, "addr", "add", f"{subnet}.2/30", "dev", inner)
        _ip("-n", self.name, "link", "set", inner, "up")
        _ip("-n", self.name, "link", "set", "lo", "up")
        return f"{subnet}.1"

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                inside, _ = self._door.accept()
                threading.Thread(target=self._carry, args=(inside,), daemon=True).start()

    def _carry(self, inside: socket.socket) -> None:
        database = socket.socket(socket.AF_UNIX)
        other = {inside: database, database: inside}
        with suppress(OSError), inside, database, selectors.DefaultSelector() as ready:
            database.connect(_socket(self._url))
            for one in other:
                ready.register(one, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    one = inside if key.fileobj is inside else database
                    data = one.recv(65_536)
                    if not data:
                        return
                    other[one].sendall(data)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)  # noqa: S607


def _user(url: str) -> object:
    return conninfo_to_dict(url)["user"]


def _database(url: str) -> object:
    return conninfo_to_dict(url)["dbname"]


def _socket(url: str) -> str:
    told = conninfo_to_dict(url)
    return str(Path(str(told["host"])) / f".s.PGSQL.{told.get('port') or 5432}")
