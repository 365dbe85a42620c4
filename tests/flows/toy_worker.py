"""A worker with a toy segment, as a process of its own so that it can be killed: HOME STORE [ENGINE_URL]."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.events.event import Unknown
from asbuilt.flows.engine.dbos import Engine, Performs, step
from asbuilt.flows.engine.lease import Lease, Times
from asbuilt.flows.engine.signals import Tidings
from asbuilt.flows.engine.worker import Worker
from asbuilt.journal import runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.engine import segments
from asbuilt.journal.engine.identity import worker_id
from asbuilt.journal.engine.liveness import only_one
from asbuilt.journal.events import append
from asbuilt.journal.home import Home
from asbuilt.journal.ids import LOCAL, Address
from tests.journal.conftest import open_store

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store

STEPS_EACH = 4
TOY = Unknown(name="toy", number=1, data={})


class Toy:
    """Segments that are gone through, and otherwise only handed on."""

    def __init__(self, store: Store, segment: Performs) -> None:
        self.tidings = Tidings()
        self.segment = segment
        self._store = store

    def lost(self, segment: runs.Segment, why: str) -> None:
        """Fail: nothing here breaks off."""
        raise AssertionError((segment, why))

    def taken_over(self, segment: runs.Segment) -> None:
        """Go on with the next one."""
        with self._store.write() as session:
            segments.follow(session, segment, due_at=session.now, why="taken over", by="")


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
            runs.close_segment(session, runs.Segment(org, repo, run, n, "", ""))
            if n == 1:
                runs.plan_segment(session, runs.Segment(org, repo, run, 2, session.now, "next"))
            else:
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
        me = worker_id(Home(home))
        lease = Lease(store, me, org=LOCAL, times=Times()) if engine_url else None
        engine = Engine(folder=home, url=engine_url, worker=me, slots=2)
        Worker(store, engine, Toy(store, segment), org=LOCAL, lease=lease).serve(threading.Event())


if __name__ == "__main__":
    main()
