"""The scripted model's server: one thread of it for each request, one script for each path `/s/NAME/...`.

The one rule: only a main request takes a step; whatever else an agent asks for on the way gets fixed words.
"""

from __future__ import annotations

import json
import re
import select
import socket
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, assert_never
from urllib.parse import urlsplit

from tests.model import anthropic, chat, gemini, responses
from tests.model.dialect import Body, Dialect, Frame, Request
from tests.model.steps import Answer, Hang, Refuse, Say, Step, answer, filled, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DIALECTS: Final = (anthropic.DIALECT, responses.DIALECT, chat.DIALECT, gemini.DIALECT)
SIDE: Final = answer(
    Say('{"title": "Scripted title", "complexity_reasoning": "scripted", "complexity_score": 50}')
)
"""What fits whoever asks for a title, and gemini's router."""
OVER: Final = answer(Say("(the script is over)"))
_COUNTS: Final = {
    "/messages/count_tokens": {"input_tokens": 1_000},
    ":countTokens": {"totalTokens": 1_000},
}
_MODELS: Final = {
    "object": "list",
    "data": [{"id": "fake-model", "object": "model", "created": 1, "owned_by": "script"}],
    "models": [],
}
_LOOK_S: Final = 0.05


@dataclass(slots=True, kw_only=True)
class Received:
    """One request as it came."""

    number: int
    script: str
    method: str
    path: str
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: Body
    at: float
    """When it came, by the monotonic clock."""
    is_main: bool = False
    step: int | None = None
    """Which step of its script answered it, from 0; None: a side call, or the script was over."""
    gone: bool = False
    """Whoever asked went away before the answer was whole."""

    @property
    def words(self) -> str:
        """All texts in it, as the model would read them."""
        return words_of(self.body)


@dataclass(slots=True)
class _Script:
    steps: tuple[Step, ...]
    taken: set[int] = field(default_factory=set)

    def next(self, words: str) -> int | None:
        for at, step in enumerate(self.steps):
            if at not in self.taken and (not step.when or re.search(step.when, words)):
                if not (isinstance(step, Refuse) and step.for_good):
                    self.taken.add(at)
                return at
        return None


class Model:
    """What tests see of the server."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._scripts: dict[str, _Script] = {}
        self._requests: list[Received] = []
        self._released: set[str] = set()
        self._closed = False

    def url(self, script: str) -> str:
        """Say the base URL under which a script is played."""
        return f"http://127.0.0.1:{self._port}/s/{script}"

    @property
    def host(self) -> str:
        """Where it listens, as `sandbox.hosts` names it."""
        return f"127.0.0.1:{self._port}"

    def play(self, script: str, *steps: Step) -> None:
        """Give a script its steps, in place of those it had."""
        with self._lock:
            self._scripts[script] = _Script(steps)

    def release(self, event: str) -> None:
        """Let every step go on that waits for this."""
        with self._changed:
            self._released.add(event)
            self._changed.notify_all()

    def left(self, script: str) -> int:
        """Count the steps that nobody has taken; a refusal for good is never taken."""
        with self._lock:
            found = self._scripts[script]
            return len(found.steps) - len(found.taken)

    def requests(self, script: str, *, main: bool = True) -> list[Received]:
        """List what a script was asked, by default by its agent's own turns."""
        with self._lock:
            return [one for one in self._requests if one.script == script and (one.is_main or not main)]

    def await_requests(self, script: str, count: int, *, timeout_s: float = 60) -> list[Received]:
        """Wait until a script was asked so many times by its agent's own turns."""

        def asked() -> bool:
            return sum(one.script == script and one.is_main for one in self._requests) >= count

        with self._changed:
            assert self._changed.wait_for(asked, timeout_s), f"{script} was not asked {count} times"
        return self.requests(script)

    def await_gone(self, received: Received, *, timeout_s: float = 60) -> None:
        """Wait until whoever sent a request has gone away without its answer."""
        with self._changed:
            assert self._changed.wait_for(lambda: received.gone, timeout_s), "it still waits"

    # What the requests' threads do.

    def receive(self, received: Received, dialect: Dialect | None) -> tuple[Received, Step | None]:
        """Record a request and choose its step; None: it is none of a model's."""
        with self._changed:
            received.number = len(self._requests) + 1
            self._requests.append(received)
            received.is_main = dialect is not None and dialect.is_main(received.body)
            step: Step | None = SIDE if dialect is not None else None
            if received.is_main:
                script = self._scripts.setdefault(received.script, _Script(()))
                received.step = script.next(received.words)
                step = OVER if received.step is None else script.steps[received.step]
            self._changed.notify_all()
        return received, step

    def lose(self, received: Received) -> None:
        """Record that nobody waits for an answer any more."""
        with self._changed:
            received.gone = True
            self._changed.notify_all()

    def is_released(self, event: str) -> bool:
        """Tell whether whoever waits for this may go on; nobody waits for a server that is closed."""
        with self._lock:
            return self._closed or event in self._released

    def close(self) -> None:
        """Let everybody go who waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: Model

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  the library's
        """Keep quiet about agents that were killed, and about nothing else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is the library's
        """Write nothing: everything is recorded."""

    def do_HEAD(self) -> None:
        self._take({}, None)
        self._send(200, b"")

    def do_GET(self) -> None:
        self._take({}, None)
        if urlsplit(self.path).path.endswith("/models"):
            self._send_json(200, _MODELS)
        else:
            self._send_json(404, {"error": {"type": "not_found_error", "message": "not here"}})

    def do_POST(self) -> None:
        try:
            body: Body = json.loads(self._read() or b"{}")
        except ValueError as error:
            self._send_json(400, {"error": {"type": "invalid_request_error", "message": str(error)}})
            return
        path = urlsplit(self.path).path
        dialect = next((one for one in DIALECTS if re.search(one.path, path)), None)
        received, step = self._take(body, dialect)
        if dialect is None or step is None:
            counted = next((counts for end, counts in _COUNTS.items() if path.endswith(end)), None)
            self._send_json(404 if counted is None else 200, counted or {})
            return
        try:
            self._perform(dialect, step, received, streamed=dialect.is_streamed(path, body))
        except (BrokenPipeError, ConnectionResetError):
            self.server.model.lose(received)
            self.close_connection = True

    def _perform(self, dialect: Dialect, step: Step, received: Received, *, streamed: bool) -> None:
        match step:
            case Hang():
                self._hang("")
            case Refuse():
                self._send_json(step.status, dialect.error(step), step.headers or {})
            case Answer():
                if step.wait:
                    self._hang(step.wait)
                said = filled(step, received.words)
                request = Request(received.body, received.number)
                if streamed:
                    self._stream(dialect, said, request)
                elif said.ends == "whole":
                    self._send_json(200, dialect.whole(said, request))
                elif said.ends == "hanging":
                    self._hang("")
                self.close_connection = self.close_connection or said.ends == "cut"
            case _:
                assert_never(step)

    def _stream(self, dialect: Dialect, said: Answer, request: Request) -> None:
        blocks, end = dialect.stream(said, request)
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self._write(blocks)
        if said.ends == "hanging":
            self._hang("")
        elif said.ends == "whole":
            self._write(end)

    def _write(self, frames: list[Frame]) -> None:
        for name, data in frames:
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())

    def _hang(self, event: str) -> None:
        """Wait until something is released, the server closes, or whoever asked goes away."""
        while not self.server.model.is_released(event):
            readable, _, _ = select.select([self.connection], [], [], _LOOK_S)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise BrokenPipeError
            if readable:
                time.sleep(_LOOK_S)

    def _take(self, body: Body, dialect: Dialect | None) -> tuple[Received, Step | None]:
        name = re.match(r"/s/([^/]+)/", self.path)
        received = Received(
            number=0,
            script=name[1] if name else "",
            method=self.command,
            path=self.path,
            headers={key.lower(): value for key, value in self.headers.items()},
            body=body,
            at=time.monotonic(),
        )
        return self.server.model.receive(received, dialect)

    def _read(self) -> bytes:
        if (self.headers.get("transfer-encoding") or "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        whole = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _send_json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:  # noqa: ANN401
        self._send(status, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})

    def _send(self, status: int, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving() -> Iterator[Model]:
    """Serve on a free port of loopback."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.model = Model(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": _LOOK_S}, daemon=True)
    thread.start()
    try:
        yield server.model
    finally:
        server.model.close()
        server.shutdown()
        server.server_close()
        thread.join()
