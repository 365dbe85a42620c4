"""A worker process to be measured: KIND HOME STORE NAME SLOTS.

`asbuilt` decides, journals and dispatches with a performer that does nothing outside; `asleep`
waits for agents that never come to an end; `landing` moves a real branch; `bare` is the engine alone, its
segments made of as many steps.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.journal.home import Home

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.journal.conftest import open_store

from asbuilt.flows.engine.dbos import Engine, step
from asbuilt.flows.engine.lease import Lease, Times
from asbuilt.flows.engine.worker import Worker
from asbuilt.flows.segment import Runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.ids import LOCAL, new_id
from measures.asleep import Asleep
from measures.bare import Bare
from measures.landing import Landing
from measures.noop import Noop

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.flows.engine.dbos import Flow
    from asbuilt.journal.database.store import Store

_ANSWER: Final = {"move": "Attempt", "phase": "1", "number": 1, "role": "implement", "failures": []}
"""As large as what a decision leaves behind."""


class Announced(Engine):
    """The engine, and a file that says when it is up."""

    def __init__(self, up: Path, store: Store, *, url: str | None, worker: str, slots: int) -> None:
        super().__init__(store, url=url, worker=worker, slots=slots)
        self._up = up

    def launch(self, flow: Flow, *, ended: Callable[[], object] = lambda: None) -> None:
        """Start serving, and say so."""
        super().launch(flow, ended=ended)
        self._up.touch()


def main() -> None:
    """Serve until killed."""
    kind, home, where, name, slots = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:6]
    url = where.replace("postgresql:", "postgresql+psycopg:") if where.startswith("postgresql:") else None
    up, go = home / f"{name}.up", home / f"{name}.go"
    if kind == "bare":
        free = threading.Semaphore(int(slots))
        bare = Bare(where, home, worker=name)
        bare.launch(_bare, ended=free.release)
        up.touch()
        _begin(bare, free, go)
    store = open_store(where)
    engine = Announced(up, store, url=url, worker=name, slots=int(slots))
    blobs = Blobs(home / "blobs")
    lease = Lease(store, name, org=LOCAL, times=Times()) if url else None
    state = Home(home)
    performer = _performer(kind, state, blobs, lease)
    flow = Runs(store, blobs, performer, lease=lease)
    Worker(store, engine, flow, org=LOCAL, lease=lease).serve(threading.Event())


def _performer(kind: str, home: Home, blobs: Blobs, lease: Lease | None) -> Noop:
    if kind == "asleep":
        return Asleep(home, blobs, lease, home.path / "asleep")
    return Landing(home, blobs) if kind == "landing" else Noop(home, blobs)


def _bare(org: str, repo: str, run: str, n: int) -> None:
    """Do as many steps as a run of asbuilt does, and nothing in them."""
    del org, repo, run
    for number in range(n):
        step(f"step {number}", dict, _ANSWER)


def _begin(engine: Bare, free: threading.Semaphore, go: Path) -> None:
    """Wait for the word, HOW MANY and STEPS EACH, then give the engine as many at once as it has slots."""
    while not (go.exists() and go.read_text()):
        threading.Event().wait(0.05)
    number, steps = map(int, go.read_text().split())
    for _ in range(number):
        free.acquire()
        engine.begin(new_id(), (LOCAL, "", "", steps))
    threading.Event().wait()


if __name__ == "__main__":
    main()
