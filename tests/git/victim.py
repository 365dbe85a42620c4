"""A process to be killed: it plays one task after another, each in a child of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.git.landing.candidates import Candidate, hold, pick
from asbuilt.git.landing.land import Intent, land
from asbuilt.git.repository import open_repository
from asbuilt.git.workspace.checkouts import clean_checkout
from asbuilt.git.workspace.snapshots import keep
from asbuilt.git.workspace.workspaces import make, remove
from asbuilt.ports import Workspace
from tests.git.shop import AT, environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.git.shop import Shop

Task = dict[str, str]


def play(task: Task) -> str:
    """Do one thing as a worker would, and say how it ended."""
    repository = open_repository(Path(task["root"]))
    room = Path(task["room"])
    if task["do"] == "land":
        intent = Intent(
            run=task["run"],
            ref=task["ref"],
            old=task["old"],
            new=task["new"],
            checkout=task["checkout"] or None,
        )
        return type(land(repository, intent, room)).__name__
    if task["do"] == "build":
        found = pick(repository, onto=task["old"], commits=[task["new"]], run=task["run"])
        if isinstance(found, Candidate):
            hold(repository, task["run"], found)
        return type(found).__name__
    if task["do"] == "make":
        return str(make(repository, room / "workspaces", task["run"], task["lane"], task["new"]).path)
    workspace = Workspace(
        path=Path(task.get("path", "")), git_dir=Path(task.get("git_dir", "")), common=repository.common
    )
    if task["do"] == "keep":
        return keep(repository, workspace, task["run"], parent=task["old"], at=AT).commit
    if task["do"] == "checkout":
        clean_checkout(repository, task["new"], room / "clean")
        return "done"
    remove(repository, workspace)
    return "removed"


class Theatre:
    """Where tasks are played, and may be killed in the middle."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def start(self, task: Task) -> int:
        """Start a task; returns its process."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._heard())

    def end(self) -> str:
        """Wait for the task; what it said, or that it was killed."""
        return self._heard()

    def run(self, task: Task) -> tuple[str, float]:
        """Play a task to its end, and take the time."""
        started = time.monotonic()
        self.start(task)
        return self.end(), time.monotonic() - started

    def kill(self, task: Task, after_s: float, *, alone: bool) -> str:
        """Play a task and kill it after a while: alone, so that its git goes on, or all that it started."""
        process = self.start(task)
        time.sleep(after_s)
        if alone:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        else:
            kill_tree(process)
        return self.end()

    def _heard(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError("the theatre has closed")
        return line.decode().rstrip("\n")


@contextmanager
def theatre(shop: Shop) -> Iterator[Theatre]:
    """Open a theatre: a process without threads, which may fork."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.git.victim"],
        cwd=Path(__file__).parents[2],
        env=environment(shop.home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        yield Theatre(process)
        assert process.stdin is not None
        process.stdin.close()


def kill_tree(root: int) -> None:
    """Stop a process and everything below it, then kill all at once, as a power cut would."""
    stopped: list[int] = []
    waiting = [root]
    while waiting:
        one = waiting.pop()
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGSTOP)
            stopped.append(one)
        waiting += [child for child in _children(one) if child not in stopped]
    for one in stopped:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def _children(parent: int) -> list[int]:
    found: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{parent}/task").iterdir():
            found += [int(word) for word in (task / "children").read_text().split()]
    return found


def _serve() -> None:
    for line in sys.stdin:
        ready, announced = os.pipe()
        child = os.fork()
        if child == 0:
            os.read(ready, 1)
            _say(play(json.loads(line)))
            os._exit(0)
        _say(str(child))
        os.write(announced, b".")
        _, status = os.waitpid(child, 0)
        os.close(ready)
        os.close(announced)
        if status:
            _say("killed" if os.WIFSIGNALED(status) else "failed")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve()
