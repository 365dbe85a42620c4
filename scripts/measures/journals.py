"""Curves of the journal: a plan and the views after many finished plans (A) and after many events (B)."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Final

import psycopg
from tests.growth.operations import OPERATIONS
from tests.growth.rows import SHOWN, begin, grow
from tests.journal.conftest import open_store

from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from measures.crew import runs_of_asbuilt
from measures.curve import Curve, Point

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from asbuilt.journal.database.store import Store
    from measures.server import Server

_TURNS: Final = 9
_WHOLE: Final = 24
"""Events of a plan that is generated with its whole history."""
_B: Final = {"insert": "event", "fold": "status of one plan", "feed": "last events", "board": "status"}


def cost_of_a_plan(server: Server, sizes: Sequence[int], *, views: bool = True) -> tuple[Curve, ...]:
    """Measure A on Postgres: a plan from request to landing, and every view, after so many finished plans."""
    where = server.database()
    spent, seen = [], []
    with closing(open_store(where)) as store, tempfile.TemporaryDirectory() as folder:
        blobs = Blobs(Path(folder))
        before = _begin(store, blobs)
        for size in sizes:
            grow(store, size, before=before)
            before = max(before, size)
            _settle(where)
            each, _ = runs_of_asbuilt(server, where, workers=1, plans=15, of_phases=2)
            figures = {
                "Postgres ms": each.postgres_s * 1e3,
                "worker ms": each.worker_s * 1e3,
                "transactions": each.transactions,
                "WAL KB": each.wal / 1e3,
            }
            spent.append(Point(size, figures))
            if views:
                seen.append(Point(size, timed(store, blobs, perf_counter)))
    server.drop(where)
    accepted = {"Postgres ms": 1.3, "worker ms": 1.3, "transactions": 1.3}
    curve = Curve("A", "What a plan costs", "finished plans", spent, accepted)
    return (curve, _views("Views on Postgres, ms", seen)) if views else (curve,)


def views_on_sqlite(sizes: Sequence[int]) -> Curve:
    """Measure A on a laptop: every view after so many finished plans."""
    with tempfile.TemporaryDirectory() as folder:
        blobs, points = Blobs(Path(folder) / "blobs"), []
        with closing(open_store(str(Path(folder) / "journal.db"))) as store:
            before = _begin(store, blobs)
            for size in sizes:
                grow(store, size, before=before)
                before = max(before, size)
                points.append(Point(size, timed(store, blobs, process_time)))
    return _views("Views on SQLite, ms of CPU", points)


def cost_of_an_event(server: Server, sizes: Sequence[int]) -> Curve:
    """Measure B: insert, fold, feed and board after so many events, on Postgres."""
    where, points = server.database(), []
    with closing(open_store(where)) as store, tempfile.TemporaryDirectory() as folder:
        blobs = Blobs(Path(folder))
        before = _begin(store, blobs)
        for size in sizes:
            plans = max(SHOWN, size // _WHOLE)
            grow(store, plans, before=before, events=1_000)
            before = plans
            _settle(where)
            took = timed(store, blobs, perf_counter)
            points.append(Point(size, {name: took[operation] for name, operation in _B.items()}))
    server.drop(where)
    return Curve("B", "Events", "events", points, {"insert": 1.5, "fold": 2.0, "feed": 2.0, "board": 2.0})


def timed(store: Store, blobs: Blobs, clock: Callable[[], float]) -> dict[str, float]:
    """Time every operation, in turns; return the least of each, in milliseconds."""
    best = dict.fromkeys(OPERATIONS, float("inf"))
    for _ in range(_TURNS):
        for name, operation in OPERATIONS.items():
            start = clock()
            with store.write() as session:
                operation(session, blobs)
            best[name] = min(best[name], (clock() - start) * 1e3)
    return best


def _begin(store: Store, blobs: Blobs) -> int:
    store.migrate(STEPS)
    begin(store, blobs)
    return SHOWN


def _views(title: str, points: list[Point]) -> Curve:
    most = 1.5 if points[-1].at <= 100_000 else 2.0
    # It looks through a thousand plans at most, and a hundred are fewer.
    judged = [name for name in points[0].figures if name != "a part of a name"]
    return Curve("A", title, "finished plans", points, dict.fromkeys(judged, most))


def _settle(where: str) -> None:
    """Let the server do now what it would do meanwhile."""
    with psycopg.connect(where, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
