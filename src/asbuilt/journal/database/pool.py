"""A few connections shared by many threads. A thread that finds none free waits for one to come back."""

from __future__ import annotations

import atexit
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZE: Final = 4
"""Connections of one process: many small pools fill a database's limit sooner than any work does."""


class Closable(Protocol):
    """What a pool holds."""

    def close(self) -> None:
        """Let go."""


Connection = TypeVar("Connection", bound=Closable)


class Pool(Generic[Connection]):
    """Connections made when they are first needed, kept until they break or the process ends."""

    def __init__(
        self, make: Callable[[], Connection], is_usable: Callable[[Connection], bool], *, size: int = SIZE
    ) -> None:
        self._make = make
        self._is_usable = is_usable
        self._places = threading.BoundedSemaphore(size)
        self._free: list[Connection] = []
        self._guard = threading.Lock()
        _POOLS.add(self)

    @contextmanager
    def take(self) -> Iterator[Connection]:
        """Lend a connection for one transaction."""
        with self._places:
            with self._guard:
                connection = self._free.pop() if self._free else None
            if connection is not None and not self._is_usable(connection):
                connection.close()
                connection = None
            if connection is None:
                connection = self._make()
            try:
                yield connection
            finally:
                if self._is_usable(connection):
                    with self._guard:
                        self._free.append(connection)
                else:
                    connection.close()

    def close(self) -> None:
        """Close what is not lent."""
        with self._guard:
            while self._free:
                self._free.pop().close()


_POOLS: Final[weakref.WeakSet[Pool[Any]]] = weakref.WeakSet()


@atexit.register
def _close_every() -> None:
    # At the end only, never as garbage is collected: that happens in the middle of anything, under any lock.
    for pool in list(_POOLS):
        pool.close()
