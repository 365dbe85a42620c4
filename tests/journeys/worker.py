"""A whole worker as a process of its own, so that it can be killed: HOME STORE."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.agents.sandboxed_commands import SandboxProcesses
from asbuilt.flows.engine.dbos import Engine
from asbuilt.flows.engine.dbos import step as recorded
from asbuilt.flows.engine.fleet_claims import Taking
from asbuilt.flows.engine.lease import Lease, Times
from asbuilt.flows.engine.worker import Worker, clear
from asbuilt.flows.fleet.membership import labels_of, offer
from asbuilt.flows.kinds import Performer
from asbuilt.flows.notify import NO_REACH, Reach
from asbuilt.flows.segment import Runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.engine.liveness import only_one
from asbuilt.journal.engine.workers import worker_id
from asbuilt.journal.home import open_home
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.shared_blobs import SharedBlobs
from asbuilt.policy.sandbox.variables import passed
from tests.journal.conftest import open_store

if TYPE_CHECKING:
    from asbuilt.flows.engine.dbos import Steps
    from asbuilt.lifecycle.notify import Message
    from asbuilt.policy.sandbox.rules import Level


class _Calls:
    """Writes the titles of notices to a file."""

    way = "file"

    def __init__(self, file: str) -> None:
        self._file = Path(file)

    def call(self, message: Message) -> None:
        with self._file.open("a", encoding="utf-8") as opened:
            opened.write(f"{message.title}\n")


def main(step: Steps = recorded) -> None:
    home, where = open_home(Path(sys.argv[1])), sys.argv[2]
    url = where.replace("postgresql:", "postgresql+psycopg:") if where.startswith("postgresql:") else None
    store = open_store(where)
    store.migrate(STEPS)
    blobs = Blobs(Path(os.environ.get("ASBUILT_TEST_BLOBS", home.blobs)))
    if labels_of(home) is not None:
        blobs = SharedBlobs(home.blobs, open_store(where))
    times = Times(*map(float, os.environ.get("ASBUILT_TEST_TIMES", "15 45 60").split()))
    slots = int(os.environ.get("ASBUILT_TEST_SLOTS", "2"))
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    level: Level | None = "none" if "ASBUILT_TEST_NO_RING" in os.environ else None
    abandon_s = float(os.environ.get("ASBUILT_TEST_ABANDON_S", times.stop_s if url else times.lost_s))
    attempts = FolderAttempts(
        home.path, home=home.path / "nobody", sandbox_required=False, level=level, abandon_s=abandon_s
    )
    processes = SandboxProcesses(
        scratch=home.scratch,
        hidden=(home.path,),
        homes=(home.path / "nobody",),
        environment={**passed(os.environ), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        level="none" if os.environ.get("ASBUILT_TEST_NO_RING") == "nowhere" else None,
    )
    with only_one(home.worker_lock) as mine:
        if not mine:
            sys.exit(75)
        clear(home.scratch)
        me = worker_id(home) if url else LOCAL
        lease = Lease(store, me, org=LOCAL, times=times) if url else None
        performer = Performer(home, store, blobs, attempts, processes, lease=lease)
        engine = Engine(store, url=url, worker=me, slots=slots)
        calls = os.environ.get("ASBUILT_TEST_CALLS")
        reach = Reach(desktop=_Calls(calls)) if calls else NO_REACH
        flow = Runs(store, blobs, performer, reach, lease=lease, step=step)
        taking = None
        if lease is not None and labels_of(home) is not None:
            taking = Taking(store, engine, lambda: offer(home, os.environ), org=LOCAL, lost_s=times.lost_s)
        if Worker(store, engine, flow, org=LOCAL, lease=lease, taking=taking).serve(ended):
            again = [sys.executable, "-m", "tests.journeys.worker", *sys.argv[1:]]
            os.execv(sys.executable, again)  # noqa: S606 - itself
        engine.close()
    os._exit(0)


if __name__ == "__main__":
    main()
