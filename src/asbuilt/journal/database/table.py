"""Rows of one table, read as one type. Callers write what follows WHERE; values are always parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

T = TypeVar("T")
OF_REPO: Final = "org = :org AND repo = :repo"
OF_PLAN: Final = f"{OF_REPO} AND plan = :plan"
OF_RUN: Final = f"{OF_REPO} AND run = :run"
_TRIES: Final = 1_000


def insert(session: Session, table: str, conflict: str = "", **values: object) -> int:
    """Add a row; `conflict` is an ON CONFLICT clause. Return the number of added or updated rows."""
    names = ", ".join(values)
    given = ", ".join(f":{name}" for name in values)
    return session.run(f"INSERT INTO {table} ({names}) VALUES ({given}) {conflict}", **values)


class Table(Generic[T]):
    """A table, or another source of rows, with the columns that its type is made of."""

    def __init__(self, name: str, read: Callable[..., T], columns: Sequence[str]) -> None:
        """Keep the parts; `read` gets the columns of a row by their names."""
        self.name = name
        self.columns = ", ".join(columns)
        self._read = read

    def every(self, session: Session, where: str, **values: object) -> list[T]:
        """Return the rows that match; `where` may end with an order, a limit and a lock."""
        rows = session.rows(f"SELECT {self.columns} FROM {self.name} WHERE {where}", **values)
        return [self._read(**row) for row in rows]

    def first(self, session: Session, where: str, **values: object) -> T | None:
        """Return the first row that matches, or None."""
        return next(iter(self.every(session, where, **values)), None)

    def has(self, session: Session, where: str, **values: object) -> bool:
        """Return whether a row matches."""
        return bool(session.rows(f"SELECT 1 FROM {self.name} WHERE {where} LIMIT 1", **values))

    def changed(self, session: Session, change: str, **values: object) -> list[T]:
        """Update rows; `change` is what follows UPDATE and the table's name. Return the changed rows."""
        rows = session.rows(f"UPDATE {self.name} {change} RETURNING {self.columns}", **values)
        return [self._read(**row) for row in rows]

    def insert_numbered(self, session: Session, *, key: str, **values: object) -> int | None:
        """Add a row under its repository's next free number; None if there is a row with this key."""
        where = {"org": values["org"], "repo": values["repo"]}
        for _ in range(_TRIES):
            if self.has(session, f"{OF_REPO} AND key = :key", **where, key=key):
                return None
            last = session.rows(
                f"SELECT number FROM {self.name} WHERE {OF_REPO} ORDER BY number DESC LIMIT 1", **where
            )
            number = int(last[0]["number"] if last else 0) + 1
            if insert(session, self.name, "ON CONFLICT DO NOTHING", **values, key=key, number=number):
                return number
        raise LookupError(key)
