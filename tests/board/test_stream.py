"""Streams share one tail of the journal, and a journal at rest is not queried."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from asbuilt.board.stream import Changes
from asbuilt.events.plans import PlanNoted
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.events import append, open_plan
from asbuilt.journal.home import Home
from asbuilt.wiring import Journal
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.journal.database.sqlite import SqliteSession

STREAMS = 20


class Counting(SqliteStore):
    """A store that counts its transactions."""

    reads = 0

    @contextmanager
    def read(self) -> Iterator[SqliteSession]:
        self.reads += 1
        with super().read() as session:
            yield session


async def heard(changes: Changes, messages: list[tuple[float, str]]) -> None:
    async for message in changes.follow(str(changes.read()), None):
        messages.append((time.monotonic(), message.partition("\n")[0]))  # noqa: PERF401 - timed as it comes


async def course(store: Counting, changes: Changes) -> tuple[int, list[tuple[float, str]], float]:
    """Return the transactions of two idle seconds, and what every stream got of an event after them."""
    messages: list[tuple[float, str]] = []
    tasks = [asyncio.create_task(heard(changes, messages)) for _ in range(STREAMS)]
    await asyncio.sleep(3)
    before = store.reads
    await asyncio.sleep(2)
    idle = store.reads - before
    with store.write() as session:
        append(session, PLAN, PlanNoted(note="look"), key="note", actor="you")
    wrote_at = time.monotonic()
    await asyncio.sleep(2)
    for task in tasks:
        task.cancel()
    return idle, messages, wrote_at


def test_twenty_idle_streams_query_nothing_and_all_get_the_next_event_within_a_second(tmp_path: Path) -> None:
    store = Counting(tmp_path / "journal.db")
    store.migrate(STEPS)
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
    journal = Journal(Home(tmp_path), store, Blobs(tmp_path / "blobs"))
    idle, messages, wrote_at = asyncio.run(course(store, Changes(journal)))
    assert idle == 0
    late = [at - wrote_at for at, message in messages if message == "event: changed"]
    assert len(late) == STREAMS
    assert max(late) < 1
