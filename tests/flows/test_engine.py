from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.options import RunOptions
from asbuilt.journal import runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.engine.liveness import holder
from asbuilt.journal.events import history, open_plan
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


def _request(store: Store, count: int, plan: Address = PLAN) -> list[str]:
    made = []
    with store.write() as session:
        for _ in range(count):
            made.append(new_id())
            runs.request(session, plan, run=made[-1], slug="toy", options=RunOptions(), actor="you")
    return made


def _of_older_version(where: str) -> list[str]:
    """Write a journal as the version before the engine dispatched: one run in work, one that waits."""
    store = open_store(where)
    store.migrate([step for step in STEPS if step.number <= 10])
    with store.write() as session:
        open_plan(session, PLAN, "toy")
        for number, due_at in enumerate((session.now, runs.FAR), start=1):
            session.run(
                "INSERT INTO runs (org, repo, run, plan, number, state, needs, options, at)"
                " VALUES (:org, :repo, :run, :plan, :number, 'running', 1, '{}', :now)",
                **PLAN._asdict(),
                run=f"older{number}",
                number=number,
                now=session.now,
            )
            session.run(
                "INSERT INTO segments (org, repo, run, n, due_at, why, worker)"
                " VALUES (:org, :repo, :run, 1, :due_at, 'start', 'gone')",
                org=PLAN.org,
                repo=PLAN.repo,
                run=f"older{number}",
                due_at=due_at,
            )
    store.close()
    return ["older1", "older2"]


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


def test_deleting_the_engines_rows_in_mid_run_loses_nothing(tmp_path: Path) -> None:
    where = str(tmp_path / "journal.db")
    store = _store(where)
    made = _request(store, 2)
    worker = _start(tmp_path, where)
    _until(lambda: len(_acts(tmp_path)) >= 6)
    _kill(worker)
    with closing(sqlite3.connect(where)) as file:
        for table in ("operation_outputs", "workflow_input", "workflow_status"):
            file.execute(f"DELETE FROM {table}")
        file.commit()
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


def test_a_wait_that_the_engine_lost_is_enqueued_again_by_doctor(tmp_path: Path) -> None:
    where = str(tmp_path / "journal.db")
    store = _store(where)
    (run,) = _request(store, 1)
    with store.write() as session:
        session.run("UPDATE segments SET due_at = '2999-01-01T00:00:00.000Z'")
    worker = _start(tmp_path, where)
    with closing(sqlite3.connect(where)) as file:
        _until(lambda: _rows_of_engine(file) == [("DELAYED",)])
        file.execute("DELETE FROM workflow_status")
        file.commit()
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ASBUILT_HOME": str(tmp_path)}
        command = [sys.executable, "-P", "-m", "asbuilt", "doctor", "--fix", "engine"]
        done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "1 run enqueued again; none starts twice.\n")
        _until(lambda: _rows_of_engine(file) == [("DELAYED",)])
        assert _acts(tmp_path) == []
    with store.write() as session:
        runs.wake(session, PLAN.org, PLAN.repo, run)
    _until(lambda: _all_over(store))
    _kill(worker)
    assert _told(store) == _expected([run])
    store.close()


def _rows_of_engine(file: sqlite3.Connection) -> list[tuple[str]]:
    try:
        return file.execute("SELECT status FROM workflow_status").fetchall()
    except sqlite3.OperationalError:
        return []


def test_a_repository_does_not_wait_for_all_runs_of_another(tmp_path: Path, where: str) -> None:
    store = _store(where)
    _request(store, 16)
    other = PLAN._replace(repo="other")
    (late,) = _request(store, 1, other)
    worker = _start(tmp_path, where)
    _until(lambda: _all_over(store))
    _kill(worker)
    acts = _acts(tmp_path)
    # By lot: at each of 30 free slots it is the other repository's turn with a chance of a half.
    assert acts.index(f"{late}.2/{STEPS_EACH - 1}") < len(acts) * 0.8
    store.close()


def _killed_at(fsync: int, home: Path, where: str) -> None:
    """Run a worker until its fsync of that number in a thread, or until it has nothing more to do."""
    inject = f"inject=fsync,fdatasync:signal=KILL:when={fsync}"
    traced = subprocess.Popen(
        [
            *("/usr/bin/strace", "-f", "-qq", "-o", os.devnull, "-e", inject),
            *(sys.executable, "-m", "tests.flows.toy_worker", str(home), where),
        ],
        cwd=ROOT,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while traced.poll() is None and time.monotonic() < until and len(_acts(home)) < STEPS_EACH:
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(traced.pid, signal.SIGKILL)
    traced.wait()


needs_strace = pytest.mark.skipif(
    not Path("/usr/bin/strace").exists(), reason="kill points at an fsync need strace"
)
at_fsyncs = pytest.mark.parametrize("fsync", range(1, 8))


@needs_strace
@at_fsyncs
def test_runs_of_an_older_version_continue_wherever_the_first_start_is_killed(
    tmp_path: Path, fsync: int
) -> None:
    where = str(tmp_path / "journal.db")
    made = _of_older_version(where)
    _killed_at(fsync, tmp_path, where)
    worker = _start(tmp_path, where)
    store = _store(where)
    _until(lambda: len(_told(store)) == STEPS_EACH)
    with store.write() as session:
        runs.wake(session, PLAN.org, PLAN.repo, made[1])
    _until(lambda: _all_over(store))
    _kill(worker)
    assert _told(store) == sorted(f"{run}.2/{number}" for run in made for number in range(STEPS_EACH))
    store.close()


@needs_strace
@at_fsyncs
def test_a_first_start_that_is_killed_at_an_fsync_bricks_nothing(tmp_path: Path, fsync: int) -> None:
    where = str(tmp_path / "journal.db")
    store = _store(where)
    made = _request(store, 1)
    _killed_at(fsync, tmp_path, where)
    worker = _start(tmp_path, where)
    _until(lambda: _all_over(store))
    _kill(worker)
    assert _told(store) == _expected(made)
    store.close()
