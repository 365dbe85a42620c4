"""One stream of changes to every open tab, from one query of the journal per process.

Rule: the id of a message is the journal's cursor. A tab that comes back with an older cursor gets one message
and reloads its page; it never gets a list of what it missed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.errors import StoreFailed

if TYPE_CHECKING:
    from asbuilt.wiring import Journal

POLL_S: Final = 0.25
HEARTBEAT_S: Final = 5.0
"""Seconds between two messages of an idle stream; the page shows when the last one came."""
_SETTLED_S: Final = 2.0
"""A store at rest for this long is not queried until it is written again; a shared one half as often."""
_MAX_CURSOR: Final = 18
"""Digits of a cursor. A longer one is not the journal's."""


class Changes:
    """The journal's cursor, read by one task while any tab listens."""

    def __init__(self, journal: Journal, ended: Callable[[], bool] = lambda: False) -> None:
        """Keep the journal; `ended` returns whether the server stops, so that open streams end."""
        self._journal = journal
        self._ended = ended
        self._cursor = 0
        self._listeners = 0
        self._task: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()

    def read(self) -> int:
        """Return the number of the newest event."""
        with self._journal.store.read() as session:
            return int(session.rows("SELECT coalesce(max(feed), 0) AS feed FROM events")[0]["feed"])

    async def follow(self, cursor: str, watched: Path | None) -> AsyncIterator[str]:
        """Yield messages for a tab that has seen `cursor`; `watched` is the file of a live attempt."""
        self._listeners += 1
        try:
            if self._task is None:
                self._task = asyncio.create_task(self._poll())
                self._cursor = await asyncio.to_thread(self.read)
            seen = int(cursor) if cursor.isascii() and cursor.isdigit() and len(cursor) <= _MAX_CURSOR else -1
            if seen < 0 or seen > self._cursor:
                yield _message("resync", self._cursor)
                seen = self._cursor
            size, sent_at = size_of(watched), time.monotonic()
            while not self._ended():
                moved, grown = self._moved, size_of(watched)
                if seen != self._cursor or grown != size:
                    seen, size, sent_at = self._cursor, grown, time.monotonic()
                    yield _message("changed", seen)
                elif time.monotonic() - sent_at >= HEARTBEAT_S:
                    sent_at = time.monotonic()
                    yield _message("beat", seen)
                with suppress(TimeoutError):
                    await asyncio.wait_for(moved.wait(), 2 * POLL_S)
        finally:
            self._listeners -= 1

    async def _poll(self) -> None:
        """Wake every stream when the journal has new events. A store at rest is not queried."""
        before: float | None = None
        changed_at = time.monotonic()
        while self._listeners:
            written = self._journal.store.written_at()
            if written != before:
                before, changed_at = written, time.monotonic()
            # Two commits within a tick of the file system's clock look like one: read on for a while.
            is_busy = time.monotonic() - changed_at < _SETTLED_S
            if (written is None or is_busy) and await self._has_moved():
                changed_at = time.monotonic()
            await asyncio.sleep(POLL_S if is_busy or written is not None else 2 * POLL_S)
        self._task = None

    async def _has_moved(self) -> bool:
        try:
            cursor = await asyncio.to_thread(self.read)
        except StoreFailed:  # the next poll reads it
            return False
        if cursor == self._cursor:
            return False
        self._cursor = cursor
        self._moved.set()
        self._moved = asyncio.Event()
        return True


def _message(kind: str, cursor: int) -> str:
    return f"event: {kind}\nid: {cursor}\ndata: {cursor}\n\n"


def size_of(file: Path | None) -> int:
    """Return the size of a file; 0 if there is none."""
    try:
        return file.stat().st_size if file else 0
    except OSError:
        return 0
