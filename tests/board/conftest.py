"""A board beside a real run that asks a question, and raw requests to it."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.board.browsing import PROGRAMS, chromium
from tests.journeys.test_commands import Office, office

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

__all__ = ["office"]


class Reply(NamedTuple):
    """The answer to one request."""

    status: int
    head: str
    body: str


class Served:
    """The board of an office."""

    def __init__(self, office: Office) -> None:
        self.office = office
        with socket.socket() as asked:
            asked.bind(("127.0.0.1", 0))
            self.port: int = asked.getsockname()[1]
        self.process: subprocess.Popen[str] | None = None
        self.start()
        self.host = f"127.0.0.1:{self.port}"
        entered = self.get(self.link().partition(self.host)[2])
        cookie = SimpleCookie(re.search(r"(?im)^set-cookie: (.+)$", entered.head)[1])  # type: ignore[index]  # it is there
        self.cookie = "; ".join(f"{name}={one.value}" for name, one in cookie.items())

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "asbuilt", "board", "--no-open", "--port", str(self.port)],
            cwd=self.office.shop,
            env=self.office.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        end = time.monotonic() + 60
        while True:
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert time.monotonic() < end
            time.sleep(0.1)

    def link(self) -> str:
        """Ask for another link, as a person does."""
        shown = self.office.typed("board", "--print-link").communicate(timeout=60)[0]
        return shown.strip()

    def send(self, request: bytes) -> Reply:
        """Send bytes as they are; a connection that is closed without an answer has status 0."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as line:
            line.sendall(request)
            data = b""
            try:
                while (piece := line.recv(65536)) and not data.endswith(b"0\r\n\r\n"):
                    data += piece
                    if b"text/event-stream" in data:
                        break
            except TimeoutError:
                pass
        head, _, body = data.decode("utf-8", "replace").partition("\r\n\r\n")
        status = re.match(r"HTTP/1.1 (\d+)", head)
        return Reply(int(status[1]) if status else 0, head, body)

    def get(self, path: str, *headers: str) -> Reply:
        return self.send(
            "\r\n".join(
                (
                    f"GET {path} HTTP/1.1",
                    f"Host: 127.0.0.1:{self.port}",
                    "Connection: close",
                    *headers,
                    "",
                    "",
                )
            ).encode()
        )

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def asking(office: Office) -> Office:
    """An office whose run has asked whether to continue with its second phase."""
    assert office.run("--finish").startswith("exit 5")
    return office


@pytest.fixture
def board(asking: Office) -> Iterator[Served]:
    made = Served(asking)
    yield made
    made.stop()


@pytest.fixture
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        if opened is None:
            pytest.skip(f"NOT RUN: none of {', '.join(PROGRAMS)} is installed")
        yield opened
