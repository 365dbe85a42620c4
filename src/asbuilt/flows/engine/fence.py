"""The journal, as one segment may write to it. Rule: a superseded segment writes nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from asbuilt.journal.engine import segments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from asbuilt.journal.database.store import Session, Transactions
    from asbuilt.journal.runs import Segment


class Superseded(Exception):
    """The segment was closed meanwhile: another worker has taken over its run."""


class Fenced:
    """Checks in each write transaction that the segment is still open."""

    def __init__(self, store: Transactions, segment: Segment) -> None:
        self._store = store
        self.segment = segment

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Start a transaction during which no other worker can take the segment."""
        with self._store.write() as session:
            if not segments.is_open(session, self.segment):
                raise Superseded(self.segment.workflow)
            yield session

    def read(self) -> AbstractContextManager[Session]:
        """Start a read-only transaction."""
        return self._store.read()
