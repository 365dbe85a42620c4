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


class Door:
    """A port of an address that leads to a Postgres, which listens on a socket of this machine."""

    def __init__(self, url: str, address: str) -> None:
        self._listens = socket.create_server((address, 0))
        self._url = url
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def place(self) -> str:
        """The address and the port."""
        host, port = self._listens.getsockname()
        return f"{host}:{port}"

    def close(self) -> None:
        self._listens.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                inside, _ = self._listens.accept()
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


class Partition:
    """One namespace, one link, and a door to Postgres at the other end of it."""

    def __init__(self, url: str) -> None:
        number = os.getpid() % 60_000
        self.name = f"asbuilt-{number}"
        self._link, inner = f"ab{number}o", f"ab{number}i"
        subnet = f"10.{200 + number % 50}.{number // 50 % 250}"
        self._door = Door(url, self._made(inner, subnet))
        self._url = url

    @property
    def url(self) -> str:
        """The database as it is reached from inside."""
        return f"postgresql://{_user(self._url)}@{self._door.place}/{_database(self._url)}"

    def enter(self) -> tuple[str, ...]:
        """Give the words that start a program inside."""
        return ("ip", "netns", "exec", self.name)

    def cut(self) -> None:
        """Take the link down: no packet passes, and nobody is told."""
        ip("link", "set", self._link, "down")

    def heal(self) -> None:
        """Put the link up again."""
        ip("link", "set", self._link, "up")

    def close(self) -> None:
        """Remove it all."""
        self._door.close()
        ip("netns", "delete", self.name)
        with suppress(subprocess.CalledProcessError):
            ip("link", "delete", self._link)

    def _made(self, inner: str, subnet: str) -> str:
        ip("netns", "add", self.name)
        ip("link", "add", self._link, "type", "veth", "peer", "name", inner, "netns", self.name)
        ip("addr", "add", f"{subnet}.1/30", "dev", self._link)
        ip("link", "set", self._link, "up")
        ip("-n", self.name, "addr", "add", f"{subnet}.2/30", "dev", inner)
        ip("-n", self.name, "link", "set", inner, "up")
        ip("-n", self.name, "link", "set", "lo", "up")
        return f"{subnet}.1"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)  # noqa: S607


def _user(url: str) -> object:
    return conninfo_to_dict(url)["user"]


def _database(url: str) -> object:
    return conninfo_to_dict(url)["dbname"]


def _socket(url: str) -> str:
    told = conninfo_to_dict(url)
    return str(Path(str(told["host"])) / f".s.PGSQL.{told.get('port') or 5432}")
