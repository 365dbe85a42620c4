"""The board as a process, and tabs of it as plain HTTP clients."""

from __future__ import annotations

import http.client
import queue
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from measures.server import family_s

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_UP_S: Final = 60.0


class Board:
    """A board beside a repository."""

    def __init__(self, shop: Path, environ: dict[str, str]) -> None:
        """Start it and sign in."""
        with socket.socket() as asked:
            asked.bind(("127.0.0.1", 0))
            self._port = int(asked.getsockname()[1])
        command = [sys.executable, "-m", "asbuilt", "board"]
        self._process = subprocess.Popen(
            [*command, "--no-open", "--port", str(self._port)],
            cwd=shop, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        link = self._process.stdout.readline().strip() if self._process.stdout else ""
        end = time.monotonic() + _UP_S
        while True:
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", self._port)) == 0:
                    break
            if time.monotonic() > end:
                raise TimeoutError("the board does not answer")
            time.sleep(0.05)
        entered = self._answer(f"/enter/{link.rpartition('/')[2]}")
        self._cookie = (entered.getheader("set-cookie") or "").partition(";")[0]

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def _answer(self, path: str, cookie: str = "") -> http.client.HTTPResponse:
        line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        line.request("GET", path, headers={"Cookie": cookie})
        return line.getresponse()

    def get(self, path: str) -> bytes:
        """Return a page; raises `ValueError` for one that cannot be shown."""
        answer = self._answer(path, self._cookie)
        data = answer.read()
        if answer.status != http.HTTPStatus.OK or b"cannot be shown" in data:
            raise ValueError(f"{path}: {answer.status}")
        return data

    def cost_of(self, path: str) -> tuple[float, int]:
        """Return the processor time of a page, with that of its gits, and the page's size."""
        before = family_s(self._process.pid)
        size = len(self.get(path))
        return family_s(self._process.pid) - before, size

    def peak_mb(self) -> float:
        """Return the most memory that it has had."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(found[1]) / 1e3 if found else 0.0

    @contextmanager
    def tabs(self, path: str, number: int) -> Iterator[Tabs]:
        """Open as many streams of a page."""
        opened = Tabs(self, path, number)
        try:
            yield opened
        finally:
            opened.close()

    def stream(self, path: str, cursor: str) -> http.client.HTTPResponse:
        """Open the stream of a page."""
        return self._answer(f"/stream?after={cursor}&page={path}", self._cookie)


class Tabs:
    """Clients that do what the page's script does: listen, and fetch the page after each change."""

    def __init__(self, board: Board, path: str, number: int) -> None:
        """Fetch the page, and open the streams."""
        self._board, self._path, self._number = board, path, number
        self._heard: queue.Queue[float] = queue.Queue()
        self._is_over = False
        found = re.search(rb'data-cursor="(\d+)"', board.get(path))
        cursor = found[1].decode() if found else "0"
        self._threads = [
            threading.Thread(target=self._listen, args=(cursor,), daemon=True) for _ in range(number)
        ]
        for thread in self._threads:
            thread.start()
        time.sleep(2)

    def updated(self, within_s: float) -> list[float]:
        """Return when each tab had its new page."""
        end = time.monotonic() + within_s
        found: list[float] = []
        while len(found) < self._number:
            try:
                found.append(self._heard.get(timeout=max(0.0, end - time.monotonic())))
            except queue.Empty:
                break
        return found

    def close(self) -> None:
        """End the streams with their next message."""
        self._is_over = True

    def _listen(self, cursor: str) -> None:
        stream = self._board.stream(self._path, cursor)
        while not self._is_over and (line := stream.fp.readline()):
            if line.startswith(b"event: changed"):
                self._board.get(self._path)
                self._heard.put(time.monotonic())
