"""A laptop with the database's URL and nothing else: no clone, no worker. Commands are processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from asbuilt.journal.engine.liveness import holder


class Laptop:
    """An empty folder, a HOME and a state folder of its own."""

    def __init__(self, folder: Path, url: str, ssh: Path) -> None:
        self.start = folder / "empty"
        self.start.mkdir(parents=True)
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "ASBUILT_HOME": str(folder / "state"),
            "ASBUILT_STORE_URL": url,
            "GIT_SSH_COMMAND": str(ssh),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "100",
        }
        (folder / "home").mkdir()

    def close(self) -> None:
        """End the worker that a command started."""
        pid = holder(Path(self.environ["ASBUILT_HOME"]) / "worker.lock")
        if pid:
            os.kill(pid, signal.SIGKILL)

    def typed(self, *words: str) -> tuple[int, str]:
        """Type a command; return its exit code and all that it shows."""
        done = subprocess.run(
            [sys.executable, "-m", "asbuilt", *words],
            cwd=self.start,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=180,
        )
        return done.returncode, done.stdout

    def asked(self, *words: str) -> Any:  # noqa: ANN401 - JSON
        """Type a command for a script; return its answer."""
        code, said = self.typed(*words, "--json")
        assert said, code
        return json.loads(said)

    def start_board(self, port: int) -> tuple[subprocess.Popen[str], str]:
        """Start the board; return its process, and the link that signs a browser in."""
        board = subprocess.Popen(
            [sys.executable, "-m", "asbuilt", "board", "--no-open", "--port", str(port)],
            cwd=self.start,
            env=self.environ,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert board.stdout is not None
        return board, board.stdout.readline().strip()
