"""Background jobs of a worker (notifications, review polling), one thread each. Jobs never block a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from asbuilt.errors import StoreFailed


class Looks(Protocol):
    """A background job."""

    every_s: float
    waits: bool
    """Whether anything is left to do, now or later, as of the last poll."""

    def look(self) -> int:
        """Do everything that is due now, and return its number."""


@contextmanager
def beside(poll: Looks) -> Iterator[Callable[[], bool]]:
    """Run a job while the worker runs; yields a callable that returns whether the job needs the worker."""
    gone = threading.Event()
    threading.Thread(target=_serve, args=(poll, gone), daemon=True).start()
    try:
        yield lambda: poll.waits
    finally:
        gone.set()


def _serve(poll: Looks, gone: threading.Event) -> None:
    while True:
        with suppress(StoreFailed):
            poll.look()
        if gone.wait(poll.every_s):
            return
