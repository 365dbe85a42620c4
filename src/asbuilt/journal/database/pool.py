"""A pool of connections for many threads. A thread waits if all connections are in use."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, Protocol, TypeVar

SIZE: Final = 4
"""Connections per process. Many small pools exhaust a database's connection limit before any work does."""


class Closable(Protocol):
    """A connection that a pool can hold."""

    def close(self) -> None:
        """Close the connection."""


Connection = TypeVar("Connection", bound=Closable)


class Pool(Generic[Connection]):
    """Connections, opened on first use and kept until they break or the process ends."""

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
        """Yield a connection for one transaction."""
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
        """Close the connections that are not in use."""
        with self._guard:
            while self._free:
                self._free.pop().close()


_POOLS: Final[weakref.WeakSet[Pool[Any]]] = weakref.WeakSet()


@atexit.register
def _close_every() -> None:
    # Only at exit, never in a finalizer: garbage collection can run at any point, while any lock is held.
    for pool in list(_POOLS):
        pool.close()
