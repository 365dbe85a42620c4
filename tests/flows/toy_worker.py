"""A worker with a toy segment, as a process of its own so that it can be killed: HOME STORE [ENGINE_URL]."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.events.event import Unknown
from asbuilt.flows.engine.dbos import Engine, step
from asbuilt.flows.engine.fence import Signals
from asbuilt.flows.engine.lease import Lease, Times
from asbuilt.flows.engine.worker import Worker
from asbuilt.journal import runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.engine import segments
from asbuilt.journal.engine.liveness import only_one
from asbuilt.journal.engine.workers import worker_id
from asbuilt.journal.events import append
from asbuilt.journal.home import Home
from asbuilt.journal.ids import LOCAL, Address, Segment
from tests.journal.conftest import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS_EACH = 4
TOY = Unknown(name="toy", number=1, data={})


class Toy:
    """Segments that are gone through."""

    def __init__(self, segment: Callable[[str, str, str, int], None]) -> None:
        self.signals = Signals()
        self.segment = segment

    def lost(self, segment: Segment, why: str | None) -> None:
        """Fail: nothing here breaks off."""
        raise AssertionError((segment, why))


def main() -> None:
    home, where = Path(sys.argv[1]), sys.argv[2]
    engine_url = (
        where.replace("postgresql:", "postgresql+psycopg:") if where.startswith("postgresql:") else None
    )
    store = open_store(where)
    store.migrate(STEPS)

    def act(run: str, n: int, number: int, plan: str, repo: str) -> int:
        with (home / "acts").open("a", encoding="ascii") as acts:
            acts.write(f"{run}.{n}/{number}\n")
        time.sleep(0.05)
        with store.write() as session:
            append(session, Address(LOCAL, repo, plan), TOY, key=f"{run}.{n}/{number}", actor="toy")
        return number

    def close(org: str, repo: str, run: str, n: int) -> None:
        with store.write() as session:
            done = Segment(org, repo, run, n, "", "")
            if n == 1:
                segments.follow(session, done, due_at=session.now, why="next")
            elif segments.close(session, done):
                found = runs.find(session, org, repo, run)
                if found is not None:
                    runs.set_state(session, found, "done")

    def segment(org: str, repo: str, run: str, n: int) -> None:
        with store.read() as session:
            found = runs.find(session, org, repo, run)
        plan = found.plan if found else ""
        for number in range(STEPS_EACH):
            step(f"act-{number}", act, run, n, number, plan, repo)
        step("close", close, org, repo, run, n)

    with only_one(home / "worker.lock") as mine:
        if not mine:
            sys.exit(75)
        me = worker_id(Home(home)) if engine_url else LOCAL
        lease = Lease(store, me, org=LOCAL, times=Times()) if engine_url else None
        engine = Engine(store, url=engine_url, worker=me, slots=2)
        Worker(store, engine, Toy(segment), org=LOCAL, lease=lease).serve(threading.Event())


if __name__ == "__main__":
    main()
