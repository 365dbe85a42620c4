"""Print what a fleet costs its database: a worker at rest, a run of one phase, a board and its tabs.

The worker is the product's own, on a machine that has joined the fleet; runs work on a mirror of a bare
remote and land there. docs/reference/performance.md has the figures and what follows from them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import psycopg  # noqa: E402 - the tests' folder is on the path now
from tests.crash.laptop import Laptop  # noqa: E402
from tests.crash.machines import Machines  # noqa: E402

from asbuilt.journal.engine.liveness import holder  # noqa: E402
from measures.board import Board  # noqa: E402
from measures.server import Spent, resident_mb, server  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from measures.server import Server

_SETTLED_S: Final = 64.0
"""The engine polls more often in its first minute."""
_REST_S: Final = 30.0
_RUNS: Final = 4
_TABS: Final = 20
_TABLES: Final = """
SELECT table_schema || '.' || table_name FROM information_schema.tables
WHERE table_schema IN ('asbuilt', 'dbos') AND table_type = 'BASE TABLE'
"""


def measured(postgres: Server, folder: Path) -> Iterator[str]:
    """Measure, and write each figure as a line."""
    where = postgres.database()
    with closing(Machines(folder, where)) as machines:
        alone = _watched(postgres, 0)
        yield f"Postgres alone: {_rate(alone)}"
        yield from _with_worker(postgres, machines, folder)


def _with_worker(postgres: Server, machines: Machines, folder: Path) -> Iterator[str]:
    where, ours = machines.where, postgres.connections()
    with machines.serving("bob") as state:
        machines.until(lambda: holder(state / "worker.lock"))
        pid = holder(state / "worker.lock") or 0
        time.sleep(_SETTLED_S)
        rest = _watched(postgres, pid)
        yield f"a worker at rest: {_rate(rest)}, {postgres.connections() - ours} connections"
        yield f"    {resident_mb(pid):.0f} MB of memory"
        before, sizes = postgres.spent((pid,)), _sizes(where)
        looks, run = 0, ""
        for _ in range(_RUNS):
            run = machines.ask(mode="phase")
            while not machines.run(run).is_over:
                looks += 1
                time.sleep(1)
            machines.commit_pulled()
        spent = postgres.spent((pid,)).since(before)
        # Ours, which ask for the run and look whether it is over, are not the run's.
        spent = spent._replace(transactions=spent.transactions - looks - _RUNS)
        yield from _of_a_run(spent, rest)
        yield f"    {len(machines.kinds()) / _RUNS:.0f} events"
        for name, (size, rows) in _sizes(where).items():
            more, added = size - sizes.get(name, (0, 0))[0], rows - sizes.get(name, (0, 0))[1]
            if added > 0:
                yield f"    {name}: {added / _RUNS:.1f} rows, {more / _RUNS / 1e3:.1f} KB without indexes"
        yield from _tabs(postgres, machines, folder, (rest, pid), run)


def _of_a_run(spent: Spent, rest: Spent) -> Iterator[str]:
    idle = spent.wall_s / rest.wall_s
    transactions = (spent.transactions - rest.transactions * idle) / _RUNS
    yield f"a run of one phase, without what rest costs: {transactions:.0f} transactions"
    yield f"    {(spent.postgres_s - rest.postgres_s * idle) / _RUNS:.3f} s of Postgres"
    yield f"    {(spent.worker_s - rest.worker_s * idle) / _RUNS:.2f} s of the worker, without its children"
    yield f"    {spent.wal / _RUNS / 1e3:.0f} KB of log, {spent.wall_s / _RUNS:.1f} s"


def _tabs(
    postgres: Server, machines: Machines, folder: Path, worker: tuple[Spent, int], run: str
) -> Iterator[str]:
    laptop = Laptop(folder / "laptop", machines.where, machines.ssh)
    path, (rest, pid) = f"/run/{machines.repo}/{run}", worker
    with Board(laptop.start, laptop.environ) as board:
        for number in (0, 1, _TABS):
            with board.tabs(path, number):
                time.sleep(3)
                spent = _watched(postgres, pid)
            more = spent.transactions / spent.wall_s - rest.transactions / rest.wall_s
            yield f"a board with {number} tabs at rest: {more:+.2f} transactions a second"


def _watched(postgres: Server, pid: int) -> Spent:
    before = postgres.spent((pid,))
    time.sleep(_REST_S)
    return postgres.spent((pid,)).since(before)


def _rate(spent: Spent) -> str:
    return (
        f"{spent.transactions / spent.wall_s:.1f} transactions a second,"
        f" {spent.postgres_s / spent.wall_s:.2%} of a core of Postgres,"
        f" {spent.worker_s / spent.wall_s:.2%} of a core of its own"
    )


def _sizes(where: str) -> dict[str, tuple[int, int]]:
    """Return the bytes and the number of the rows of each table."""
    with psycopg.connect(where, autocommit=True) as connection:
        names = [str(name) for (name,) in connection.execute(_TABLES).fetchall()]
        asked = "SELECT coalesce(sum(pg_column_size(t.*)), 0), count(*) FROM {} AS t"
        rows = {name: connection.execute(asked.format(name).encode()).fetchone() for name in names}
    return {name: (int(row[0]), int(row[1])) for name, row in rows.items() if row}


def main() -> None:
    """Print the figures."""
    with server() as postgres, tempfile.TemporaryDirectory(prefix="asbuilt-fleet-") as name:
        for line in measured(postgres, Path(name)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
