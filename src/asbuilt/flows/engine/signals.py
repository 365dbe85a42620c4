"""What a worker has heard of its runs, for all who wait in it: one query a look serves them all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.journal.engine.segments import Held


class Tidings:
    """Which runs are to stop, and which segments are still this worker's."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._held: frozenset[str] | None = None
        self._stopped: frozenset[str] = frozenset()

    def hear(self, held: Iterable[Held]) -> None:
        """Hear what the worker has now; whoever waits looks at once when somebody wants a stop."""
        found = tuple(held)
        stopped = frozenset(one.segment.run for one in found if one.is_stopped)
        with self._news:
            self._held = frozenset(one.segment.workflow for one in found)
            if stopped - self._stopped:
                self._news.notify_all()
            self._stopped = stopped

    def wait(self, seconds: float) -> None:
        """Wait for news, or so long."""
        with self._news:
            self._news.wait(seconds)

    def is_stopped(self, run: str) -> bool:
        """Tell whether somebody wants a run to stop."""
        return run in self._stopped

    def is_lost(self, workflow: str) -> bool:
        """Tell whether a segment is not this worker's any more."""
        return self._held is not None and workflow not in self._held
