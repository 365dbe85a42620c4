"""What a worker does beside its runs, in a thread of its own. Its one rule: it never holds a run up."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from asbuilt.errors import StoreFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Looks(Protocol):
    """Who does what is due when told to look."""

    @property
    def waits(self) -> bool:
        """Whether anything is left to do, now or later, as it was last seen."""

    def look(self) -> int:
        """Do everything that is due now, and tell how much that was."""


@contextmanager
def beside(one: Looks, *, every_s: float) -> Iterator[Callable[[], bool]]:
    """Let somebody look for as long as a worker is there; give what tells whether it has to stay for that."""
    gone = threading.Event()
    threading.Thread(target=_serve, args=(one, every_s, gone), daemon=True).start()
    try:
        yield lambda: one.waits
    finally:
        gone.set()


def _serve(one: Looks, every_s: float, gone: threading.Event) -> None:
    while True:
        with suppress(StoreFailed):
            one.look()
        if gone.wait(every_s):
            return
