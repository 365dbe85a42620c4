"""A worker process to be measured: KIND HOME STORE NAME SLOTS.

`asbuilt` decides, journals and dispatches with a performer that does nothing outside; `bare` is the engine
alone, its segments made of as many steps.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.journal.conftest import open_store

from asbuilt.flows.engine import Engine, step
from asbuilt.flows.run import Runs
from asbuilt.flows.worker import Worker
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.ids import LOCAL, new_id
from measures.noop import Noop

if TYPE_CHECKING:
    from asbuilt.flows.perform import Performer

_ANSWER: Final = {"move": "Attempt", "phase": "1", "number": 1, "role": "implement", "failures": []}
"""As large as what a decision leaves behind."""


def main() -> None:
    """Serve until killed; a file says when the engine is up."""
    kind, home, where, name, slots = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:6]
    url = where.replace("postgresql:", "postgresql+psycopg:") if where.startswith("postgresql:") else None
    engine = Engine(folder=home, url=url, worker=name, slots=int(slots))
    up, go = home / f"{name}.up", home / f"{name}.go"
    if kind == "bare":
        engine.launch(_bare)
        up.touch()
        _enqueue(engine, go)
    store = open_store(where)
    blobs = Blobs(home / "blobs")
    flow = Runs(store, blobs, cast("Performer", Noop(store, blobs)))
    engine.launch(flow.segment)
    up.touch()
    Worker(store, engine, org=LOCAL, lost=flow.lost).serve(threading.Event())


def _bare(org: str, repo: str, run: str, n: int) -> None:
    """Do as many steps as a run of asbuilt does, and nothing in them."""
    del org, repo, run
    for number in range(n):
        step(f"step {number}", dict, _ANSWER)


def _enqueue(engine: Engine, go: Path) -> None:
    """Wait for the word, then hand the engine its work: HOW MANY, STEPS EACH."""
    while not (go.exists() and go.read_text()):
        threading.Event().wait(0.05)
    number, steps = map(int, go.read_text().split())
    for _ in range(number):
        engine.enqueue(new_id(), (LOCAL, "", "", steps), delay_s=0)
    threading.Event().wait()


if __name__ == "__main__":
    main()
