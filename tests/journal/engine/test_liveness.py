"""A lock tells who is the worker, on a machine that is slow as well."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from asbuilt import wiring
from asbuilt.errors import WorkerFailed
from asbuilt.journal.engine.liveness import holder, only_one
from asbuilt.settings import load

if TYPE_CHECKING:
    from pathlib import Path


def test_a_start_outlasts_a_process_that_only_looks(tmp_path: Path) -> None:
    lock = tmp_path / "worker.lock"
    lock.touch()
    looker = os.open(lock, os.O_RDWR)
    fcntl.flock(looker, fcntl.LOCK_SH)
    threading.Timer(1.0, os.close, (looker,)).start()
    with only_one(lock) as mine:
        assert (mine, holder(lock)) == (True, os.getpid())
    assert holder(lock) is None


def test_a_start_gives_way_to_a_worker_that_is_there(tmp_path: Path) -> None:
    lock = tmp_path / "worker.lock"
    with only_one(lock) as first, only_one(lock) as second:
        assert (first, second, holder(lock)) == (True, False, os.getpid())


IMPATIENT = """\
import os
from asbuilt import wiring
from asbuilt.settings import load
wiring._UP_WITHIN_S = 0.0
journal = wiring.open_journal(load(repository=None, environ=os.environ), os.environ)
print(wiring.ensure_worker(journal.home, os.environ))
"""


def test_a_worker_that_is_slow_to_start_is_not_reported_as_failed(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", IMPATIENT], env=environ, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    pid, lock = int(done.stdout), tmp_path / ".local" / "state" / "asbuilt" / "worker.lock"
    try:
        while holder(lock) != pid:
            os.kill(pid, 0)
            time.sleep(0.05)
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_worker_that_fails_at_its_start_is_reported_with_its_words(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    home = wiring.open_journal(load(repository=None, environ=environ), environ).home
    (tmp_path / ".config" / "asbuilt").mkdir(parents=True)
    (tmp_path / ".config" / "asbuilt" / "config.toml").write_text("agents.slots = 'many'\n")
    with pytest.raises(WorkerFailed, match="the worker did not come up"):
        wiring.ensure_worker(home, environ)
