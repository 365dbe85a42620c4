from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from asbuilt.agents.sleep_inhibitor import awake

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "caffeinate" if sys.platform == "darwin" else "systemd-inhibit"
HOLDS = """\
#!/bin/sh
echo "began $1" >> {log}
case "$1" in {refused}) exit 1 ;; esac
while [ "${{1#-}}" != "$1" ]; do shift; done
"$@"
echo ended >> {log}
"""
CHILD = """\
import time
from asbuilt.agents.sleep_inhibitor import awake
with awake() as held_by:
    print(held_by, flush=True)
    time.sleep(600)
"""


class Program:
    """The system's own program, played: it writes down when it begins and when it ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "bin"
        self.folder.mkdir()
        self._log = folder / "log"

    def is_there(self, *, refused: str = "nothing") -> None:
        file = self.folder / PROGRAM
        file.write_text(HOLDS.format(log=self._log, refused=refused), encoding="utf-8")
        file.chmod(0o755)

    @property
    def told(self) -> list[str]:
        return self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []

    @property
    def words(self) -> list[str]:
        return [line.split()[0] for line in self.told]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    made = Program(tmp_path)
    monkeypatch.setenv("PATH", f"{made.folder}:{os.environ['PATH']}")
    return made


def test_it_is_held_while_somebody_works_and_no_longer(program: Program) -> None:
    program.is_there()
    with awake() as held_by:
        assert (held_by, program.words) == (PROGRAM, ["began"])
    assert program.words == ["began", "ended"]


def test_two_that_work_at_once_hold_it_each(program: Program) -> None:
    program.is_there()
    with awake():
        with awake():
            assert program.words == ["began", "began"]
        assert program.words == ["began", "began", "ended"]


@pytest.mark.skipif(sys.platform == "darwin", reason="logind's own words")
def test_where_a_sleep_may_not_be_held_off_idling_is(program: Program) -> None:
    program.is_there(refused="--what=idle:sleep")
    with awake() as held_by:
        assert held_by == PROGRAM
    assert program.told == ["began --what=idle:sleep", "began --what=idle", "ended"]


def test_a_program_that_refuses_holds_nothing_and_stops_nobody(program: Program) -> None:
    program.is_there(refused="*")
    with awake() as held_by:
        assert held_by is None


def test_without_a_program_nothing_is_held(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.folder))
    with awake() as held_by:
        assert held_by is None


def test_a_worker_that_is_killed_holds_nothing_on(program: Program) -> None:
    program.is_there()
    with subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == f"{PROGRAM}\n"
        worker.send_signal(signal.SIGKILL)
    end = time.monotonic() + 60
    while program.words != ["began", "ended"]:
        assert time.monotonic() < end
        time.sleep(0.05)
