"""A server of objects on loopback: as much of S3 as a client that puts and gets needs."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "a-key-that-is-no-word"
"""The login's secret: it signs, and never passes."""


class _Objects(ThreadingHTTPServer):
    kept: dict[str, bytes]
    heard: list[str]


class _Handler(BaseHTTPRequestHandler):
    server: _Objects
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        self.server.kept[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200, b"", ETag='"1"')

    def do_GET(self) -> None:
        data = self.server.kept.get(self.path)
        if data is None:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            self._answer(200, data, ETag='"1"')

    def _answer(self, code: int, body: bytes, **headers: str) -> None:
        self.server.heard.append(f"{self.requestline} {self.headers}")
        self.send_response(code)
        headers |= {"Content-Length": str(len(body)), "Last-Modified": "Wed, 01 Jan 2025 00:00:00 GMT"}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        del format, args


@contextmanager
def bucket() -> Iterator[tuple[_Objects, dict[str, str]]]:
    """Serve a bucket; lends the server, and the variables with its address and login."""
    server = _Objects(("127.0.0.1", 0), _Handler)
    server.kept, server.heard = {}, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environ = login(f"http://127.0.0.1:{server.server_port}")
    try:
        yield server, environ
    finally:
        server.shutdown()
        server.server_close()


def login(address: str) -> dict[str, str]:
    """Return the variables that lead to a server of objects."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "ada",
        "AWS_SECRET_ACCESS_KEY": KEY,
        "AWS_REGION": "us-east-1",
    }
