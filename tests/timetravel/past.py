"""The store as it was, and the way back to it. The one rule: git and the folders stay as they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import psycopg
from psycopg import sql

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

Engine = Literal["old", "new", "gone"]
"""What the engine remembers after a restore: as much as the journal, all that happened since, or nothing.

On SQLite it is in the same file, so it always remembers as much.
"""


class Past:
    """A moment of a shop's store, taken while its worker works."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._tables: dict[tuple[str, str], bytes] = {}
        self._files: dict[Path, Path] = {}
        if shop.where.startswith("postgresql:"):
            self._copy_tables()
        else:
            file = Path(shop.where)
            self._files[file] = file.with_name(f"{file.name}.past")
            with (
                closing(sqlite3.connect(file)) as now,
                closing(sqlite3.connect(self._files[file])) as copy,
            ):
                now.backup(copy)

    def restore(self, engine: Engine) -> None:
        """Put the store back to that moment; no worker may be there."""
        shop = self._shop
        shop.store.close()
        if self._tables:
            self._put_tables_back(engine)
        else:
            for file, copy in self._files.items():
                for part in (file, *file.parent.glob(f"{file.name}-*")):
                    part.unlink(missing_ok=True)
                copy.rename(file)
        shop.reopen()

    def _copy_tables(self) -> None:
        with psycopg.connect(self._shop.where) as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            tables = connection.execute(
                "SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('asbuilt', 'dbos')"
            ).fetchall()
            for schema, table in tables:
                with connection.cursor().copy(
                    sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(schema, table))
                ) as rows:
                    self._tables[schema, table] = b"".join(map(bytes, rows))

    def _put_tables_back(self, engine: Engine) -> None:
        with psycopg.connect(self._shop.where) as connection:
            connection.execute("SET session_replication_role = replica")
            for schema, table in self._tables:
                if schema == "dbos" and engine == "new":
                    continue
                name = sql.Identifier(schema, table)
                connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(name))
            for (schema, table), rows in self._tables.items():
                if schema == "dbos" and engine != "old":
                    continue
                name = sql.Identifier(schema, table)
                with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(name)) as copy:
                    copy.write(rows)
            if engine == "gone":
                connection.execute("DROP SCHEMA dbos CASCADE")
