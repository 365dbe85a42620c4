"""Journal access of one execution, and its end signals. Rule: a superseded execution writes nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from asbuilt.journal.engine import segments
from asbuilt.journal.ids import Segment

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session, Transactions


class Superseded(BaseException):
    """The segment is closed, or another execution of it has started.

    Not an `Exception`: the engine would record that as the step's result, for every later execution.
    """

    def __init__(self, workflow: str, *, is_closed: bool) -> None:
        super().__init__(workflow)
        self.is_closed = is_closed


class Fenced:
    """Checks in each write transaction that this execution of the segment may write."""

    def __init__(self, store: Transactions, segment: Segment, token: int) -> None:
        self._store = store
        self.segment = segment
        self.token = token

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Start a transaction during which no other execution of the segment can start."""
        with self.closing() as (session, is_open):
            if not is_open:
                raise Superseded(self.segment.workflow, is_closed=True)
            yield session

    @contextmanager
    def closing(self) -> Iterator[tuple[Session, bool]]:
        """Start a transaction that closes the segment; yields whether it is still open."""
        with self._store.write() as session:
            yield session, self.is_open(session)

    def is_open(self, session: Session) -> bool:
        """Return whether the segment is open; raise `Superseded` if another execution has it."""
        token = segments.token_of(session, self.segment)
        if token not in (None, self.token):
            raise Superseded(self.segment.workflow, is_closed=False)
        return token is not None

    def read(self) -> AbstractContextManager[Session]:
        """Start a read-only transaction."""
        return self._store.read()


class Signals:
    """The runs that have to stop."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._stopped: frozenset[str] = frozenset()

    def notify(self, runs: Iterable[str]) -> None:
        """Update the runs that have to stop; wake every waiting thread if there is a new one."""
        stopped = frozenset(runs)
        with self._news:
            if stopped - self._stopped:
                self._news.notify_all()
            self._stopped = stopped

    def wait(self, seconds: float) -> None:
        """Wait for a new stop, at most `seconds`."""
        with self._news:
            self._news.wait(seconds)

    def is_stopped(self, run: str) -> bool:
        """Return whether a stop of the run was requested."""
        return run in self._stopped
