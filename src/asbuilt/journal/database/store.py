"""One database, SQLite or Postgres, and the same SQL for both.

The one rule: what belongs together is one transaction, and no transaction spans two plans.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from asbuilt._version import VERSION
from asbuilt.errors import JournalNewer

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

Row = dict[str, Any]
"""One row by column name."""

_NAME: Final = re.compile(r"(?<![:\w]):([a-z_]+)")
_LOCKS: Final = re.compile(r" FOR (?:SHARE|UPDATE SKIP LOCKED)\b")


class Session(Protocol):
    """One transaction. It is over when its `with` block ends: committed, or undone by what was raised."""

    @property
    def now(self) -> str:
        """The database's own clock, read once per transaction: UTC, ISO 8601 with milliseconds."""

    def rows(self, sql: str, **values: object) -> list[Row]:
        """Run a statement with `:name` parameters and return what it gives."""

    def run(self, sql: str, **values: object) -> int:
        """Run a statement and return how many rows it changed."""

    def poke(self) -> None:
        """Let workers look at once when this is committed, where they would not look soon by themselves."""


class Transactions(Protocol):
    """What reads and writes the journal."""

    def write(self) -> AbstractContextManager[Session]:
        """Begin a transaction that may change rows; writers wait for each other."""

    def read(self) -> AbstractContextManager[Session]:
        """Begin a transaction that sees one moment and changes nothing."""


class Store(Transactions, Protocol):
    """A database that keeps the journal."""

    def listen(self, poked: Callable[[], object], ended: threading.Event) -> None:
        """Call somebody for every poke until told to end; returns at once where nobody needs one."""

    def version(self) -> int:
        """Tell which step of the schema the database has; 0 when it has none."""

    def migrate(self, steps: Sequence[Migration]) -> None:
        """Bring the schema up to date, each step in a transaction of its own."""

    def close(self) -> None:
        """Let go of the database."""


class Migration(Protocol):
    """A forward step of the schema; steps are numbered from 1 and never edited once released."""

    @property
    def number(self) -> int:
        """Its place in the order."""

    def statements(self, dialect: str) -> Sequence[str]:
        """Return the step's SQL for `sqlite` or `postgres`."""


def refuse_newer(applied: int, steps: Sequence[Migration]) -> None:
    """Refuse a journal whose schema is newer than this version knows, before anything is written."""
    known = max((step.number for step in steps), default=0)
    if applied > known:
        raise JournalNewer(
            f"the journal has schema {applied}; this asbuilt {VERSION} knows schemas up to {known}",
            why="A newer asbuilt wrote it. This one could misread it and write what the newer one misreads.",
            next_step="Install the newer asbuilt again, or set ASBUILT_HOME to another folder.",
        )


def first(rows: Sequence[Row]) -> Row | None:
    """Return the only row a statement was to give, or None."""
    return rows[0] if rows else None


@lru_cache(maxsize=512)
def for_postgres(sql: str) -> str:
    """Turn `:name` into psycopg's `%(name)s`; a literal percent sign is doubled."""
    return _NAME.sub(r"%(\1)s", sql.replace("%", "%%"))


@lru_cache(maxsize=512)
def for_sqlite(sql: str) -> str:
    """Leave out locks on rows: whoever writes to SQLite has the whole of it."""
    return _LOCKS.sub("", sql)
