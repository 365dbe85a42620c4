from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.options import RunOptions
from asbuilt.journal import runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.engine.liveness import holder
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL, Address, new_id
from tests.flows.toy_worker import STEPS_EACH, TOY
from tests.journal.conftest import open_store, postgres, where

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.journal.database.store import Store

pytestmark = pytest.mark.crash

__all__ = ["postgres", "where"]  # the journal's own fixtures, on both databases

PLAN = Address(LOCAL, "6f9c", "plans/toy.md")
ROOT = Path(__file__).parent.parent.parent


def _start(home: Path, where: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "tests.flows.toy_worker", str(home), where], cwd=ROOT)


def _kill(worker: subprocess.Popen[bytes]) -> None:
    worker.send_signal(signal.SIGKILL)
    worker.wait()


def _until(true: Callable[[], object], *, within_s: float = 180) -> None:
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def _store(where: str) -> Store:
    store = open_store(where)
    store.migrate(STEPS)
    return store


def _request(store: Store, count: int) -> list[str]:
    made = []
    with store.write() as session:
        for _ in range(count):
            made.append(new_id())
            runs.request(session, PLAN, run=made[-1], slug="toy", options=RunOptions(), actor="you")
    return made


def _all_over(store: Store) -> bool:
    with store.read() as session:
        return all(run.is_over for run in runs.of_plan(session, PLAN, limit=100))


def _acts(home: Path) -> list[str]:
    file = home / "acts"
    return file.read_text(encoding="ascii").split() if file.exists() else []


def _has_come_to(target: int, home: Path, store: Store) -> bool:
    return len(_acts(home)) >= target or _all_over(store)


def _told(store: Store) -> list[str]:
    with store.read() as session:
        return sorted(one.key for one in history(session, PLAN) if one.event == TOY)


def _expected(made: list[str]) -> list[str]:
    return sorted(f"{run}.{n}/{number}" for run in made for n in (1, 2) for number in range(STEPS_EACH))


def test_a_killed_worker_is_followed_by_one_that_goes_on_at_that_step(tmp_path: Path, where: str) -> None:
    store = _store(where)
    made = _request(store, 3)
    kills = 0
    worker = _start(tmp_path, where)
    for target in (1, 5, 9, 14, 20):
        _until(partial(_has_come_to, target, tmp_path, store))
        _kill(worker)
        kills += 1
        worker = _start(tmp_path, where)
    _until(lambda: _all_over(store))
    _kill(worker)
    assert _told(store) == _expected(made)
    # A step in flight may be repeated, once a kill for each of the two slots; a finished one never is.
    assert len(_acts(tmp_path)) <= len(_expected(made)) + 2 * kills
    store.close()


def test_deleting_the_engines_database_in_mid_run_loses_nothing(tmp_path: Path) -> None:
    where = str(tmp_path / "journal.db")
    store = _store(where)
    made = _request(store, 2)
    worker = _start(tmp_path, where)
    _until(lambda: len(_acts(tmp_path)) >= 6)
    _kill(worker)
    for file in tmp_path.glob("engine.db*"):
        file.unlink()
    worker = _start(tmp_path, where)
    _until(lambda: _all_over(store))
    _kill(worker)
    assert _told(store) == _expected(made)
    store.close()


def test_a_waiting_segment_survives_a_kill_and_begins_when_it_is_woken(tmp_path: Path, where: str) -> None:
    store = _store(where)
    (run,) = _request(store, 1)
    with store.write() as session:
        session.run("UPDATE segments SET due_at = '2999-01-01T00:00:00.000Z'")
    worker = _start(tmp_path, where)
    _until(lambda: holder(tmp_path / "worker.lock") is not None)
    time.sleep(1.5)
    _kill(worker)
    assert _acts(tmp_path) == []
    worker = _start(tmp_path, where)
    _until(lambda: holder(tmp_path / "worker.lock") is not None)
    with store.write() as session:
        runs.wake(session, PLAN.org, PLAN.repo, run)
    _until(lambda: _all_over(store))
    _kill(worker)
    assert _told(store) == _expected([run])
    store.close()


@pytest.mark.parametrize("where", ["postgres"], indirect=True)
def test_two_workers_on_one_database_share_its_runs_and_go_through_each_segment_once(
    tmp_path: Path, where: str
) -> None:
    store = _store(where)
    made = _request(store, 40)
    homes = [tmp_path / "first", tmp_path / "second"]
    for home in homes:
        home.mkdir()
    workers = [_start(home, where) for home in homes]
    _until(lambda: _all_over(store))
    for worker in workers:
        _kill(worker)
    acts = [_acts(home) for home in homes]
    assert all(acts)
    assert sorted(acts[0] + acts[1]) == _told(store) == _expected(made)
    store.close()


def test_one_user_has_one_worker(tmp_path: Path) -> None:
    where = str(tmp_path / "journal.db")
    first = _start(tmp_path, where)
    _until(lambda: holder(tmp_path / "worker.lock") is not None)
    second = _start(tmp_path, where)
    assert second.wait(timeout=60) == 75
    _kill(first)
    assert holder(tmp_path / "worker.lock") is None


@pytest.mark.skipif(not Path("/usr/bin/strace").exists(), reason="kill points at an fsync need strace")
@pytest.mark.parametrize("fsync", [1, 2, 3, 5, 8, 13, 21])
def test_a_first_start_that_is_killed_at_an_fsync_bricks_nothing(tmp_path: Path, fsync: int) -> None:
    where = str(tmp_path / "journal.db")
    store = _store(where)
    made = _request(store, 1)
    inject = f"inject=fsync,fdatasync:signal=KILL:when={fsync}"
    subprocess.run(
        [
            *("/usr/bin/strace", "-f", "-qq", "-o", os.devnull, "-e", inject),
            *(sys.executable, "-m", "tests.flows.toy_worker", str(tmp_path), where),
        ],
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    worker = _start(tmp_path, where)
    _until(lambda: _all_over(store))
    _kill(worker)
    assert _told(store) == _expected(made)
    store.close()
