"""The journal's store and its blobs in memory: the shipped SQL on the shipped schema, by the world's clock.

The one rule: a transaction is a moment. It can fail before it begins, be cut off before its end, and its end
can be lost to whoever waits for it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.errors import StoreFailed
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteSession

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from asbuilt.journal.database.schema import Step
    from asbuilt.journal.database.store import Dispatch
    from asbuilt.journal.ids import Segment
    from tests.simulator.stage import Stage


class LedgerSession(SqliteSession):
    """A transaction at the world's time."""

    def __init__(self, connection: sqlite3.Connection, stage: Stage) -> None:
        super().__init__(connection)
        self._stage = stage
        self.enqueued: list[Segment] = []

    @property
    def now(self) -> str:
        """Return the world's time; within a transaction it stands still."""
        return self._stage.at

    def enqueue(self, segment: Segment) -> bool:
        """Enqueue a segment when this is committed; people have no engine."""
        actor = self._stage.current
        has_engine = actor is not None and actor.process is not None
        if has_engine:
            self.enqueued.append(segment)
        return has_engine


class Ledger:
    """The store. One for a process: making its tables takes longer than a simulation may."""

    is_shared = False

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        for step in STEPS:
            for statement in step.statements("sqlite"):
                self.connection.execute(statement)
        rows = self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        self._tables = [name for (name,) in rows]
        self._stage: Stage
        self.down_until = 0.0
        self.breaks_off = ""
        """The next transaction does not end well: `before` it was written, or `after`."""
        self.written: Callable[[], None] = lambda: None
        self.enqueue: Callable[[Segment], None] = lambda _segment: None
        self.dispatch: Dispatch | None = None

    def open(self, stage: Stage) -> None:
        """Begin anew, with nothing written."""
        for table in self._tables:
            self.connection.execute(f"DELETE FROM {table}")
        self._stage, self.down_until, self.breaks_off = stage, 0.0, ""
        self.written = lambda: None

    @contextmanager
    def write(self) -> Iterator[LedgerSession]:
        """Begin a transaction that may change rows."""
        stage = self._stage
        stage.point()
        self._up()
        stage.is_held = True
        self.connection.execute("BEGIN")
        try:
            session = LedgerSession(self.connection, stage)
            yield session
            stage.point()
            self._break_off("before")
            self.connection.execute("COMMIT")
            for segment in session.enqueued:
                self.enqueue(segment)
            stage.change()
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        finally:
            stage.is_held = False
        self.written()
        stage.point()
        self._break_off("after")

    @contextmanager
    def read(self) -> Iterator[LedgerSession]:
        """Begin a transaction that sees one moment."""
        self._stage.point()
        self._up()
        held, self._stage.is_held = self._stage.is_held, True
        try:
            yield LedgerSession(self.connection, self._stage)
        finally:
            self._stage.is_held = held

    def listen(self, wake: Callable[[], object], ended: threading.Event) -> None:
        """Return: nobody pokes, and everybody looks often."""

    def written_at(self) -> float | None:
        """Only a query tells."""
        return None

    def version(self) -> int:
        """Tell the schema's step."""
        return STEPS[-1].number

    def migrate(self, steps: Sequence[Step]) -> None:
        """Nothing is missing."""

    def close(self) -> None:
        """Nothing is held."""

    def look(self) -> LedgerSession:
        """Look at the rows from outside of the world."""
        return LedgerSession(self.connection, self._stage)

    def _up(self) -> None:
        if self._stage.now < self.down_until:
            raise _failed("the store is down")

    def _break_off(self, when: str) -> None:
        if self.breaks_off == when:
            self.breaks_off = ""
            # Whoever met it tries again later: nothing is at rest before that.
            self._stage.change()
            raise _failed(f"the transaction broke off {when} it was written")


class MemoryBlobs(Blobs):
    """Blobs without files."""

    def __init__(self, stage: Stage, is_full: Callable[[], bool]) -> None:
        super().__init__(Path("/nowhere"))
        self._stage = stage
        self._is_full = is_full
        self._kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keep some bytes and return their digest."""
        self._stage.point()
        if self._is_full():
            raise _failed("an output could not be kept: No space left on device")
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self._kept[digest] = data
        return digest

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest."""
        return self._kept[digest]


def _failed(what: str) -> StoreFailed:
    return StoreFailed(what, why="A fault of the simulation.", next_step="Wait.")
