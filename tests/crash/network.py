"""Network namespaces on one bridge: each is a machine that reaches a database and a git server there."""

from __future__ import annotations

import os
import re
import socketserver
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.crash.partition import Door, ip

if TYPE_CHECKING:
    from pathlib import Path


class Network:
    """A bridge with an address of the outside, and a namespace for each machine."""

    def __init__(self, names: tuple[str, ...]) -> None:
        number = os.getpid() % 60_000
        self._bridge = f"ab{number}b"
        subnet = f"10.{150 + number % 50}.{number // 50 % 250}"
        self.address = f"{subnet}.1"
        self._spaces = {name: f"asbuilt-{number}-{name}" for name in names}
        ip("link", "add", self._bridge, "type", "bridge")
        ip("addr", "add", f"{self.address}/24", "dev", self._bridge)
        ip("link", "set", self._bridge, "up")
        for at, space in enumerate(self._spaces.values(), 2):
            outer, inner = f"ab{number}o{at}", f"ab{number}i{at}"
            ip("netns", "add", space)
            ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", space)
            ip("link", "set", outer, "master", self._bridge, "up")
            ip("-n", space, "addr", "add", f"{subnet}.{at}/24", "dev", inner)
            ip("-n", space, "link", "set", inner, "up")
            ip("-n", space, "link", "set", "lo", "up")

    def enter(self, name: str) -> tuple[str, ...]:
        """Give the words that start a program on a machine."""
        return ("ip", "netns", "exec", self._spaces[name])

    def database(self, url: str) -> Door:
        """Open a door to a Postgres on this network."""
        return Door(url, self.address)

    def close(self) -> None:
        """Remove it all."""
        for space in self._spaces.values():
            with suppress(subprocess.CalledProcessError):
                ip("netns", "delete", space)
        with suppress(subprocess.CalledProcessError):
            ip("link", "delete", self._bridge)


SSH = """\
#!{python}
import os, socket, sys, threading
words = sys.argv[1:]
if "-G" in words:
    sys.exit(0)
port, host = int(words[words.index("-p") + 1]), next(word for word in words if word.startswith("git@"))
line = socket.create_connection((host.removeprefix("git@"), port))
line.sendall(open(os.path.expanduser("~/.ssh/id"), "rb").read() + words[-1].encode() + b"\\n")
def carry():
    while data := os.read(0, 65536):
        line.sendall(data)
    line.shutdown(socket.SHUT_WR)
threading.Thread(target=carry, daemon=True).start()
while data := line.recv(65536):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
"""
"""A program `ssh` whose key is a line of a file. It encrypts nothing: the network is the test's own."""


class GitServer(socketserver.ThreadingTCPServer):
    """Git's own programs behind a port; a key lets in."""

    daemon_threads = True

    def __init__(self, address: str, folder: Path, key: str) -> None:
        super().__init__((address, 0), _Handler)
        self.folder, self.key = folder, key
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name: str) -> str:
        """Return the URL of a repository in the folder."""
        host, port = self.server_address[:2]
        return f"ssh://git@{host!s}:{port}/{name}"

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(socketserver.StreamRequestHandler):
    server: GitServer
    rbufsize = 0

    def handle(self) -> None:
        key, command = (self.rfile.readline().decode().rstrip("\n") for _ in range(2))
        found = re.fullmatch(r"(git-(?:upload|receive)-pack) '/(\w+\.git)'", command)
        if key == self.server.key and found:
            environ = {"PATH": os.environ["PATH"], "HOME": str(self.server.folder)}
            subprocess.run(
                [*found[1].split("-", 1), str(self.server.folder / found[2])],
                stdin=self.connection, stdout=self.connection, env=environ, check=False,
            )  # fmt: skip
