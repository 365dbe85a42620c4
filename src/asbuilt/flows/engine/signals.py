"""Signals for the threads of a worker that wait on its runs: one query per poll serves them all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.journal.engine.segments import Held


class Tidings:
    """The runs that have to stop, and the segments that this worker still holds."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._held: frozenset[str] | None = None
        self._stopped: frozenset[str] = frozenset()

    def hear(self, held: Iterable[Held]) -> None:
        """Update the worker's segments; wake every waiting thread if another run has to stop."""
        found = tuple(held)
        stopped = frozenset(one.segment.run for one in found if one.is_stopped)
        with self._news:
            self._held = frozenset(one.segment.workflow for one in found)
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

    def is_lost(self, workflow: str) -> bool:
        """Return whether a segment is no longer this worker's."""
        return self._held is not None and workflow not in self._held
