"""A transaction that tells of every statement how the database finds its rows, and how many it touches."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from asbuilt.journal.database.store import for_postgres

if TYPE_CHECKING:
    import sqlite3

    import psycopg

    from asbuilt.journal.database.postgres import PostgresSession
    from asbuilt.journal.database.sqlite import SqliteSession
    from asbuilt.journal.database.store import Row
    from asbuilt.journal.ids import Segment

_GRAIN: Final = 5


@dataclass
class Explained:
    """What a transaction has asked of its database."""

    work: int = 0
    """Instructions of SQLite's machine, or rows that Postgres touched: the same on every machine."""
    scans: list[str] = field(default_factory=list)
    """Statements that read a table from end to end, or sort what no index has in order."""


class SqliteExplained:
    """A transaction on SQLite."""

    def __init__(self, session: SqliteSession, connection: sqlite3.Connection) -> None:
        self._session, self._connection = session, connection
        self.told = Explained()

    @property
    def now(self) -> str:
        return self._session.now

    def rows(self, sql: str, **values: object) -> list[Row]:
        self._explain(sql, values)
        self._connection.set_progress_handler(self._count, _GRAIN)
        found = self._session.rows(sql, **values)
        self._connection.set_progress_handler(None, _GRAIN)
        return found

    def run(self, sql: str, **values: object) -> int:
        self._explain(sql, values)
        self._connection.set_progress_handler(self._count, _GRAIN)
        changed = self._session.run(sql, **values)
        self._connection.set_progress_handler(None, _GRAIN)
        return changed

    def enqueue(self, segment: Segment) -> bool:
        return self._session.enqueue(segment)

    def wake(self) -> None:
        self._session.wake()

    def _count(self) -> int:
        self.told.work += _GRAIN
        return 0

    def _explain(self, sql: str, values: dict[str, object]) -> None:
        for row in self._session.rows(f"EXPLAIN QUERY PLAN {sql}", **values):
            if row["detail"].startswith(("SCAN", "USE TEMP B-TREE FOR ORDER")):
                self.told.scans.append(f"{row['detail']}: {sql}")


class PostgresExplained:
    """A transaction on Postgres; each statement is tried under a savepoint before it is done."""

    def __init__(self, session: PostgresSession, connection: psycopg.Connection[Row]) -> None:
        self._session, self._connection = session, connection
        self.told = Explained()

    @property
    def now(self) -> str:
        return self._session.now

    def rows(self, sql: str, **values: object) -> list[Row]:
        self._explain(sql, values)
        return self._session.rows(sql, **values)

    def run(self, sql: str, **values: object) -> int:
        self._explain(sql, values)
        return self._session.run(sql, **values)

    def enqueue(self, segment: Segment) -> bool:
        return self._session.enqueue(segment)

    def wake(self) -> None:
        self._session.wake()

    def _explain(self, sql: str, values: dict[str, object]) -> None:
        self._connection.execute("SAVEPOINT tried")
        explain = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {for_postgres(sql)}"
        (row,) = self._connection.execute(explain.encode(), values).fetchall()
        self._connection.execute("ROLLBACK TO SAVEPOINT tried")
        told = row["QUERY PLAN"]
        (whole,) = json.loads(told) if isinstance(told, str) else told
        self._hear(whole["Plan"], sql)

    def _hear(self, node: dict[str, Any], sql: str) -> None:
        touched = node["Actual Rows"] + sum(node.get(f"Rows Removed by {why}", 0) for why in _REMOVED)
        self.told.work += int(touched * node["Actual Loops"])
        if node["Node Type"] == "Seq Scan":
            self.told.scans.append(f"Seq Scan on {node['Relation Name']}: {sql}")
        for below in node.get("Plans", ()):
            self._hear(below, sql)


_REMOVED: Final = ("Filter", "Index Recheck", "Join Filter")
