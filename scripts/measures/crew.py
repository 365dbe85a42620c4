"""Workers as processes, and the measurement around what they do."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import psycopg
from tests.journal.conftest import open_store

from asbuilt.journal.database.schema import STEPS
from measures.noop import ask_for_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from measures.server import Server, Spent

SLOTS: Final = 8
_UP_S: Final = 120.0
_DONE_S: Final = 900.0


class Crew(NamedTuple):
    """Workers on one database."""

    home: Path
    where: str
    pids: tuple[int, ...]


@contextmanager
def crew(kind: str, where: str, number: int, *, slots: int = SLOTS) -> Iterator[Crew]:
    """Start workers and end them again."""
    with tempfile.TemporaryDirectory(prefix="asbuilt-crew-") as folder:
        home = Path(folder)
        work = str(Path(__file__).with_name("work.py"))
        started = [
            subprocess.Popen([sys.executable, work, kind, folder, where, f"w{one}", str(slots)])
            for one in range(number)
        ]
        try:
            until(lambda: all((home / f"w{one}.up").exists() for one in range(number)), _UP_S)
            yield Crew(home, where, tuple(one.pid for one in started))
        finally:
            for one in started:
                one.kill()
                one.wait()


def until(true: Callable[[], object], within_s: float = _DONE_S) -> None:
    """Wait for something."""
    end = time.monotonic() + within_s
    while not true():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.1)


def runs_of_asbuilt(
    server: Server, where: str, *, workers: int, plans: int, of_phases: int
) -> tuple[Spent, int]:
    """Let workers bring plans to their ends; return what that took, and how many steps a plan had."""
    store = open_store(where)
    store.migrate(STEPS)
    with crew("asbuilt", where, workers) as hands, psycopg.connect(where, autocommit=True) as looking:
        ended = "SELECT count(*) FROM asbuilt.runs WHERE ended_at IS NULL AND run NOT LIKE '0run%'"
        ask_for_runs(store, 1, of_phases=of_phases)
        until(lambda: _number(looking, ended) == 0)
        steps = _number(looking, "SELECT max(function_id) FROM dbos.operation_outputs") + 1
        before = server.spent(hands.pids)
        ask_for_runs(store, plans, of_phases=of_phases)
        until(lambda: _number(looking, ended) == 0)
        spent = server.spent(hands.pids).since(before)
    failed = _states(where)
    store.close()
    if failed:
        raise RuntimeError(failed)
    return spent.each(plans), steps


def bare_runs(server: Server, where: str, *, workers: int, plans: int, steps: int) -> Spent:
    """Let the engine alone go through as many steps."""
    with crew("bare", where, workers) as hands, psycopg.connect(where, autocommit=True) as looking:
        done = "SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'"
        before = server.spent(hands.pids)
        shares = [plans // workers + (one < plans % workers) for one in range(workers)]
        for one, share in enumerate(shares):
            (hands.home / f"w{one}.go").write_text(f"{share} {steps}", encoding="ascii")
        until(lambda: _number(looking, done) == plans)
        return server.spent(hands.pids).since(before).each(plans)


def _number(connection: psycopg.Connection[tuple[int]], sql: str) -> int:
    row = connection.execute(sql.encode()).fetchone()
    return int(row[0]) if row else 0


def _states(where: str) -> list[tuple[str, str]]:
    with psycopg.connect(where) as connection:
        return connection.execute(
            "SELECT run, state FROM asbuilt.runs WHERE state NOT IN ('landed', 'waiting') LIMIT 3"
        ).fetchall()
