"""Workers under attack, forked from a process that has loaded everything. Nothing of it is in the product.

The nursery reads what a worker is to be on a line of its own, forks it, and says its number. The worker
strikes itself dead where it was told to: before a step acts, after it acted, after the engine recorded it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from asbuilt.flows.engine import dbos
from asbuilt.flows.engine import worker as flows_worker
from asbuilt.flows.segment import Execution
from tests.journeys import worker

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).parent.parent.parent
KILLED: Final = "KILLED "
_TAKEN: Final = 75


class Strikes:
    """Counts what the worker passes, writes it down, and ends the worker at one of them."""

    def __init__(self, log: Path, at: str) -> None:
        """Strike at `1.Land:acted#2`, the second so named of the first run, or at `#7` of all."""
        self._log = log
        self._name, _, number = at.rpartition("#")
        self._number = int(number or 0)
        self._seen: Counter[str] = Counter()
        self._runs: list[str] = []
        self._lock = threading.Lock()

    def pass_by(self, name: str) -> None:
        """Say where the worker is; it may be the last that it says."""
        with self._lock:
            self._seen.update((name, ""))
            strikes = self._seen[self._name] == self._number and self._name in ("", name)
            with self._log.open("a", encoding="utf-8") as log:
                log.write(f"{KILLED if strikes else ''}{name}#{self._seen[name]}\n")
            if strikes:
                os.kill(os.getpid(), signal.SIGKILL)

    def step(self, name: str, act: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
        """Do what `flows.engine.step` does; a step that the engine remembers is passed by unseen."""
        (its,) = (one.fenced.segment.run for one in arguments if isinstance(one, Execution))
        if its not in self._runs:
            self._runs.append(its)
        leg = self._runs.index(its) + 1
        move = f"{leg}.{name.rpartition(' ')[0] if name[-1].isdigit() else name}"
        acted = False

        def watched(*given: object) -> object:
            nonlocal acted
            self.pass_by(f"{move}:before")
            answer = act(*given)
            acted = True
            self.pass_by(f"{move}:acted")
            return answer

        answer = dbos.step(name, watched, *arguments)
        if acted:
            self.pass_by(f"{move}:recorded")
        return answer


class Worker:
    """A worker that was forked; it may be anybody's child by now, so the kernel is asked about it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)

    def is_alive(self) -> bool:
        return not select.select([self._descriptor], [], [], 0)[0]

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
        select.select([self._descriptor], [], [])

    def close(self) -> None:
        os.close(self._descriptor)


class Nursery:
    """Forks workers until it is closed."""

    def __init__(self, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.nursery"],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def fork(self, **told: str) -> Worker:
        """Fork a worker: `home`, `where`, `tmp`, `log`, `passed`, and `at` where it is struck."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise TypeError("the nursery was started without pipes")
        stdin.write(json.dumps(told).encode() + b"\n")
        stdin.flush()
        worker = Worker(int(stdout.readline()))
        # Now that it is known by a descriptor, it may begin, and die at once.
        stdin.write(b"\n")
        stdin.flush()
        return worker

    def close(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _be_a_worker(told: dict[str, str]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open(told["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor, place in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, place)
    os.environ.update({"TMPDIR": told["tmp"], "ASBUILT_CRASH_BOARD": told.get("board", "")})
    os.environ["ASBUILT_TEST_ABANDON_S"] = told.get("abandon_s", "60")
    tempfile.tempdir = None
    strikes = Strikes(Path(told["passed"]), told.get("at", ""))
    flows_worker.LOOK_SHARED_S = 0.2  # type: ignore[misc]  # a matrix of minutes, not of hours
    strikes.pass_by("start")
    sys.argv[1:] = [told["home"], told["where"]]
    while True:
        try:
            worker.main(strikes.step)
        except SystemExit as ended:
            # A child of the one before that is not yet what it will be still holds the lock.
            if ended.code != _TAKEN:
                raise
            time.sleep(0.05)


def _serve() -> None:
    # The kernel reaps them: whoever wants to know whether one lives asks for it by a descriptor.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while line := sys.stdin.readline():
        ready, announced = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.read(ready, 1)
                _be_a_worker(json.loads(line))
            except BaseException:  # noqa: BLE001 - a fork never returns to its parent's loop
                traceback.print_exc()
                os._exit(1)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        sys.stdin.readline()
        os.write(announced, b".")
        os.close(ready)
        os.close(announced)


if __name__ == "__main__":
    _serve()
