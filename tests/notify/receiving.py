"""A receiver on loopback that answers as it is told to, and keeps what it got."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Got(NamedTuple):
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """A server and what it was sent."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.got: list[Got] = []
        self.answer: int | str = 200
        """A status, or `hang`, `drip`, `cut`, `noise`."""
        self.before_answer: Callable[[], object] = lambda: None
        self.elsewhere = ""


def _handler(receiver: Receiver, over: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(Got(self.path, dict(self.headers), body))
            receiver.before_answer()
            match receiver.answer:
                case int(status):
                    self.send_response(status)
                    if receiver.elsewhere:
                        self.send_header("Location", receiver.elsewhere)
                    self.end_headers()
                case "hang":
                    over.wait(120)
                case "drip":
                    while not over.wait(0.05):
                        self.wfile.write(b"H")
                case "noise":
                    self.wfile.write(b"no HTTP at all\r\n\r\n")
                case _:
                    self.connection.close()

        def log_message(self, *_: object) -> None: ...

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """Say nothing of a sender that went away: that is what tests let it do."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Lend a receiver."""
    over, receiver = threading.Event(), Receiver("")
    server = _Server(("127.0.0.1", 0), _handler(receiver, over))
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join(60)


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that will be."""
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)
