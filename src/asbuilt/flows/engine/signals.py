"""Signals for the threads of a worker that wait on its runs: one query per poll serves them all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Tidings:
    """The runs that have to stop."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._stopped: frozenset[str] = frozenset()

    def hear(self, runs: Iterable[str]) -> None:
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
