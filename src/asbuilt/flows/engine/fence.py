"""The journal as one segment may write to it. The one rule: whoever was replaced writes nothing more."""

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
    """The segment was closed meanwhile: another worker goes on with its run."""


class Fenced:
    """It looks in each transaction whether the segment still is somebody's."""

    def __init__(self, store: Transactions, segment: Segment) -> None:
        self._store = store
        self.segment = segment

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Begin a transaction during which nobody can take the segment."""
        with self._store.write() as session:
            if not segments.is_open(session, self.segment):
                raise Superseded(self.segment.workflow)
            yield session

    def read(self) -> AbstractContextManager[Session]:
        """Begin a transaction that changes nothing."""
        return self._store.read()
