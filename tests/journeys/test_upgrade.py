"""A worker whose asbuilt is replaced restarts with the new version and continues what the old one began."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import asbuilt
from asbuilt.journal.engine.liveness import holder

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash


def test_a_worker_restarts_with_the_version_that_was_installed_meanwhile(tmp_path: Path) -> None:
    installed = tmp_path / "installed" / "asbuilt"
    shutil.copytree(Path(asbuilt.__file__).parent, installed, ignore=shutil.ignore_patterns("__pycache__"))
    state = tmp_path / "state"
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ASBUILT_HOME": str(state),
        "PYTHONPATH": str(installed.parent),
    }
    log = tmp_path / "worker.log"
    with log.open("wb") as said:
        worker = subprocess.Popen(
            [sys.executable, "-P", "-m", "asbuilt", "worker", "--foreground"],
            cwd=tmp_path,
            env=environ,
            stdout=said,
            stderr=said,
        )
    try:
        _until(lambda: holder(state / "worker.lock") == worker.pid)
        version = installed / "_version.py"
        fresh = version.with_suffix(".new")
        fresh.write_text('VERSION = "9.9.9"\n', encoding="utf-8")
        fresh.replace(version)
        _until(lambda: b"asbuilt was upgraded" in log.read_bytes())
        _until(lambda: holder(state / "worker.lock") == worker.pid)
        # It runs the new version, and does not restart for it again.
        time.sleep(8)
        assert (worker.poll(), log.read_bytes().count(b"asbuilt was upgraded")) == (None, 1)
    finally:
        worker.kill()
        worker.wait()


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_a_segment_whose_steps_had_other_names_continues_as_the_next_segment(shop: Shop, where: str) -> None:
    run = shop.request(mode="phase")
    shop.lands("greet.py", "plan.md")
    shop.start()
    shop.until(lambda: "attempt.begun" in shop.kinds())
    shop.kill()
    with closing(sqlite3.connect(where)) as file:
        older = "UPDATE operation_outputs SET function_name = 'decide 1' WHERE function_name = 'decide'"
        assert file.execute(older).rowcount == 1
        file.commit()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert [shop.kinds().count(kind) for kind in ("landing.done", "trouble.met")] == [1, 0]


def _until(true: Callable[[], object], *, within_s: float = 60) -> None:
    until = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < until
        time.sleep(0.1)
