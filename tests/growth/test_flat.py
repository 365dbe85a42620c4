"""What people look at and what workers write costs the same after any number of finished plans.

Counted in the database's own work, not in time: instructions of SQLite's machine, rows that Postgres touches.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.rows import dict_row

from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.postgres import PostgresSession
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteSession
from tests.growth.explained import Explained, PostgresExplained, SqliteExplained
from tests.growth.operations import OPERATIONS
from tests.growth.rows import SHOWN, begin, grow
from tests.journal.conftest import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.growth.operations import Operation

NOW = "2050-01-01T00:00:00.000Z"
PLANS = 5_000
FEW = 1_500
"""So few that the planner still has reason to take an index, and a list of the newest is full."""


@contextmanager
def explaining(where: str) -> Iterator[SqliteExplained | PostgresExplained]:
    if where.startswith("postgresql:"):
        # A table of a page is read whole, rightly; what has no index is read whole at any price.
        options = "-c search_path=asbuilt -c enable_seqscan=off"
        with (
            psycopg.connect(where, autocommit=True, row_factory=dict_row, options=options) as connection,
            connection.transaction(),
        ):
            yield PostgresExplained(PostgresSession(connection, NOW), connection)
        return
    with closing(sqlite3.connect(where, isolation_level=None)) as file:
        file.execute("BEGIN IMMEDIATE")
        yield SqliteExplained(SqliteSession(file), file)
        file.execute("COMMIT")


def work_of(where: str, blobs: Blobs, operation: Operation) -> Explained:
    with explaining(where) as session:
        operation(session, blobs)
    return session.told


def all_work(where: str, blobs: Blobs) -> dict[str, Explained]:
    if where.startswith("postgresql:"):
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
    return {name: work_of(where, blobs, operation) for name, operation in OPERATIONS.items()}


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def test_nothing_reads_a_table_from_end_to_end_and_all_cost_the_same_after_many_plans(
    where: str, blobs: Blobs
) -> None:
    with closing(open_store(where)) as store:
        store.migrate(STEPS)
        begin(store, blobs)
        grow(store, FEW)
        few = all_work(where, blobs)
        grow(store, PLANS, before=FEW)
        many = all_work(where, blobs)
    assert {name: told.scans for name, told in many.items() if told.scans} == {}
    grown = {
        name: (few[name].work, told.work)
        for name, told in many.items()
        if told.work > 1.2 * few[name].work + 20
    }
    assert grown == {}, "work at 1,500 and at 5,000 finished plans"


@pytest.mark.parametrize(
    ("planted", "sql"),
    [
        ("a count of history", "SELECT why, count(*) AS n FROM segments GROUP BY why"),
        ("a filter without an index", "SELECT run FROM runs WHERE state = 'failed' LIMIT 5"),
        ("an order without an index", "SELECT slug FROM heads ORDER BY slug DESC, seq LIMIT 5"),
    ],
)
def test_the_guard_sees(where: str, blobs: Blobs, planted: str, sql: str) -> None:
    with closing(open_store(where)) as store:
        store.migrate(STEPS)
        begin(store, blobs)
        few = work_of(where, blobs, lambda session, _: session.rows(sql))
        grow(store, 10 * SHOWN)
        many = work_of(where, blobs, lambda session, _: session.rows(sql))
    assert many.scans, planted
    assert many.work > 5 * few.work, planted
