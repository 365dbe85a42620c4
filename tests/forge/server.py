"""The stub of GitHub on loopback: REST at `api.github.localhost`, git at `github.localhost`, by one proxy.

The one rule: whoever asks for another host gets 502, so that no test ever leaves the machine.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from tests.forge.hub import ME, TOKEN, Hub, Request
from tests.forge.rest import Reply, answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

API = "api.github.localhost"
GIT = "github.localhost"
_HTTP_BACKEND = "http-backend"
_CREDENTIALS = base64.b64encode(f"{ME}:{TOKEN}".encode()).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A hub that is served."""

    hub: Hub
    port: int

    @property
    def url(self) -> str:
        """What a remote of a clone is."""
        return f"http://{GIT}/{self.hub.address}.git"

    def environment(self, folder: Path, *, signed_in: bool = True) -> dict[str, str]:
        """What leads gh and git here and nowhere else; `folder` has gh's settings, which are none."""
        folder.mkdir(exist_ok=True)
        proxy = f"http://127.0.0.1:{self.port}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        given = dict.fromkeys(names, proxy) | {"NO_PROXY": "", "no_proxy": "", "GH_CONFIG_DIR": str(folder)}
        return given | ({"GH_TOKEN": TOKEN} if signed_in else {})

    def sign_git_in(self, home: Path) -> None:
        """Give git below a home a login: gh's own helper for git answers for https only."""
        (home / ".git-credentials").write_text(f"http://{ME}:{TOKEN}@{GIT}\n")
        with (home / ".gitconfig").open("a") as settings:
            settings.write("[credential]\n\thelper = store\n")


@contextmanager
def serving(folder: Path, address: str = "ada/shop") -> Iterator[Stub]:
    """Serve a new hub while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    hub = Hub(folder, address)
    server = _Server(("127.0.0.1", 0), _Line)
    server.hub = hub
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield Stub(hub=hub, port=server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    hub: Hub


class _Line(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET  # noqa: N815 - http.server names them so

    def do_CONNECT(self) -> None:
        self._send(Reply(502, {"message": f"{self.path} is not on this machine"}))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing: what was asked is in the hub."""

    def _serve(self) -> None:
        at = urlsplit(self.path)
        host = at.netloc.partition(":")[0]
        body = self._body()
        if host not in (API, GIT):
            self._send(Reply(502, {"message": f"{host} is not on this machine"}))
            return
        hub = self.server.hub
        hub.begun += 1
        fault = hub.fault_for(self.command, at.path)
        if fault is not None and fault.status is not None:
            self._note(at.path, fault.status)
            self._send(Reply(fault.status, {"message": fault.message}, fault.headers))
            return
        reply = self._git(at.path, at.query, body) if host == GIT else self._rest(at.path, at.query, body)
        if fault is not None:
            self._note(at.path, 0)
            self.close_connection = True
            return
        self._note(at.path, reply.status)
        self._send(reply)

    def _body(self) -> bytes:
        """Read what was sent, in chunks where its length was not known."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _rest(self, path: str, query: str, body: bytes) -> Reply:
        if self.headers.get("Authorization") != f"token {TOKEN}":
            return Reply(401, {"message": "Bad credentials"})
        given = json.loads(body) if body else {}
        return answer(self.server.hub, self.command, path, dict(parse_qsl(query)), given)

    def _git(self, path: str, query: str, body: bytes) -> Reply:
        """Let git's own server program answer."""
        if self.headers.get("Authorization") != f"Basic {_CREDENTIALS}":
            return Reply(401, "", {"WWW-Authenticate": 'Basic realm="stub"'})
        done = subprocess.run(
            ["git", _HTTP_BACKEND],  # noqa: S607
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.server.hub.folder),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_PROJECT_ROOT": str(self.server.hub.folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REMOTE_USER": ME,
                "REMOTE_ADDR": "127.0.0.1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            },
            input=body,
            capture_output=True,
            check=False,
        )
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")]
        headers = {name: value for name, _, value in lines if name}
        status = int(headers.pop("Status", "200").split()[0])
        return Reply(status, rest, headers)

    def _note(self, path: str, status: int) -> None:
        with self.server.hub.lock:
            self.server.hub.requests.append(Request(method=self.command, path=path, status=status))

    def _send(self, reply: Reply) -> None:
        data = reply.data
        self.send_response_only(reply.status)
        given = {"Content-Type": "application/json", "X-RateLimit-Remaining": "4999"}
        given |= {"Date": self.date_time_string()} | reply.headers
        for name, value in (given | {"Content-Length": str(len(data))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
