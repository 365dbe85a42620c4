"""One database, SQLite or Postgres, with the same SQL for both.

Rule: changes that belong together are one transaction, and no transaction spans two plans.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from asbuilt._version import VERSION
from asbuilt.errors import JournalNewer

if TYPE_CHECKING:
    from asbuilt.journal.database.schema import Step
    from asbuilt.journal.ids import Segment

Dispatch = Callable[[Any, "Segment"], None]
Row = dict[str, Any]

_NAME: Final = re.compile(r"(?<![:\w]):([a-z_][a-z_0-9]*)")
_LOCKS: Final = re.compile(r" FOR (?:SHARE|UPDATE SKIP LOCKED)\b")


class Session(Protocol):
    """One transaction. It is committed when its `with` block ends, or rolled back by an exception."""

    @property
    def now(self) -> str:
        """The database's time, read once per transaction: UTC, ISO 8601 with milliseconds."""

    def rows(self, sql: str, **values: object) -> list[Row]:
        """Run a statement with `:name` parameters and return its rows."""

    def run(self, sql: str, **values: object) -> int:
        """Run a statement and return the number of changed rows."""

    def wake(self) -> None:
        """Wake the workers when this transaction commits, where they would not poll soon."""

    def enqueue(self, segment: Segment) -> bool:
        """Enqueue a segment in this transaction; return False if this process has no engine."""


class Transactions(Protocol):
    """Read and write access to the journal."""

    def write(self) -> AbstractContextManager[Session]:
        """Begin a transaction that may change rows; writers wait for each other."""

    def read(self) -> AbstractContextManager[Session]:
        """Begin a transaction that reads one consistent snapshot and changes nothing."""


class Store(Transactions, Protocol):
    """A database with the journal."""

    is_shared: bool
    """Whether several machines use the database."""
    dispatch: Dispatch | None
    """Enqueues a segment in a transaction of this store; None in a process without an engine."""

    def listen(self, wake: Callable[[], object], ended: threading.Event) -> None:
        """Call `wake` for every notification until `ended` is set; return at once if there are none."""

    def written_at(self) -> float | None:
        """Return when any process last wrote, in seconds since the epoch; None if only a query would tell."""

    def version(self) -> int:
        """Return the number of the newest migration; 0 if there is none."""

    def migrate(self, steps: Sequence[Step]) -> None:
        """Apply missing migrations, each in its own transaction."""

    def close(self) -> None:
        """Close the connections."""


def refuse_newer(applied: int, steps: Sequence[Step]) -> None:
    """Raise `JournalNewer` if the schema is newer than this version knows, before anything is written."""
    known = max((step.number for step in steps), default=0)
    if applied > known:
        raise JournalNewer(
            f"the journal has schema {applied}; this asbuilt {VERSION} knows schemas up to {known}",
            why="A newer asbuilt wrote it. This version could misread or damage it.",
            next_step="Install the newer asbuilt again, or set ASBUILT_HOME to another folder.",
        )


@lru_cache(maxsize=512)
def for_postgres(sql: str) -> str:
    """Turn `:name` into psycopg's `%(name)s`; a literal percent sign is doubled."""
    return _NAME.sub(r"%(\1)s", sql.replace("%", "%%"))


@lru_cache(maxsize=512)
def for_sqlite(sql: str) -> str:
    """Remove row locks: a writer on SQLite has the whole database locked."""
    return _LOCKS.sub("", sql)
