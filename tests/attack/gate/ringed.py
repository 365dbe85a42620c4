"""Run what the gate refuses, with the gate taken away: by the `look` of a conversation, in the planning ring.

The one rule: the stage lies where the ring shows it. Below /tmp nothing is in reach, and nothing proven.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import socket
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from asbuilt.agents.sandbox.launch import probe
from asbuilt.hook.look_starter import made
from asbuilt.policy.plan_mode.state import Hold
from asbuilt.session.conversation import folder_of, keep_hold
from asbuilt.session.look_command import NAME, place
from tests.attack.gate.rows import HERE, Row, read_rows
from tests.attack.gate.stage import Stage, build

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CORPUS = HERE / "corpus.jsonl"
TIMEOUT_S = 6
_AT_ONCE = 2
_PORT = re.compile(r"(127\.0\.0\.1[:/ ])\d+")
_SITE = re.compile(r"(https?://127\.0\.0\.1)(?![:\d])")


class Broken(NamedTuple):
    """What a command changed although it was in the ring."""

    command: str
    changed: tuple[str, ...]


class Listener:
    """Whoever gets out is heard: TCP and UDP on one port of this machine's loopback."""

    def __enter__(self) -> Self:
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.port: int = self._tcp.getsockname()[1]
        self._udp.bind(("127.0.0.1", self.port))
        return self

    def __exit__(self, *_: object) -> None:
        self._tcp.close()
        self._udp.close()

    def heard(self) -> bool:
        """Tell whether anybody called since the last time."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._tcp, selectors.EVENT_READ)
            waiting.register(self._udp, selectors.EVENT_READ)
            ready = waiting.select(0)
            for key, _ in ready:
                if key.fileobj is self._tcp:
                    self._tcp.accept()[0].close()
                else:
                    self._udp.recv(1)
        return bool(ready)


def unsafe_rows() -> list[Row]:
    """Give the unsafe rows of both files; a NUL cannot be handed to a program."""
    rows = [*read_rows(), *read_rows(CORPUS)]
    return [row for row in rows if not row.safe and "\0" not in row.cmd]


def broken(rows: Sequence[Row]) -> list[Broken]:
    """Run rows in the ring, and give those that changed a file or were heard."""
    with staged() as (stage, folder), Listener() as listener, ThreadPoolExecutor(_AT_ONCE) as pool:
        before = stage.digest()
        found = []
        for start in range(0, len(rows), _AT_ONCE):
            commands = [_aimed(row.cmd, listener.port) for row in rows[start : start + _AT_ONCE]]
            list(pool.map(lambda command: look(stage, folder, command), commands))
            changed = tuple(_differences(before, stage.digest()))
            if listener.heard():
                changed += ("a connection",)
            if changed:
                found.append(Broken(" or ".join(commands), changed))
                before = stage.digest()
    return found


@contextlib.contextmanager
def staged() -> Iterator[tuple[Stage, str]]:
    """Make a stage with a conversation in which planning is held, and its `look`."""
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="asbuilt-ringed-", dir=cache) as room:
        stage = build(Path(room).resolve() / "stage")
        folder = folder_of(stage.environment, "1-1")
        keep_hold(folder, Hold(root=str(stage.repository)))
        script = made(str(stage.repository), stage.environment, probe().level, folder)
        assert script is not None
        place(folder, script)
        yield stage, folder


def look(stage: Stage, folder: str, command: str) -> int | None:
    """Run one command in the ring; None: it was ended after some seconds."""
    process = subprocess.Popen(
        [f"{folder}/{NAME}", command],
        cwd=stage.repository,
        env=stage.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _aimed(command: str, port: int) -> str:
    """Have a command call where somebody listens."""
    return _SITE.sub(rf"\g<1>:{port}", _PORT.sub(rf"\g<1>{port}", command))


def _differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
