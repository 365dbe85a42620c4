"""What people and workers do to a journal all day, each as one transaction."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Final

from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.options_json import read_options
from asbuilt.events.runs import RunEnded
from asbuilt.journal import approvals, claims, memory, repositories, runs
from asbuilt.journal.engine import segments
from asbuilt.journal.events import append, last, open_plan
from asbuilt.journal.ids import LOCAL, Address, Segment, new_id
from asbuilt.journal.queries import inventory, plan_names
from asbuilt.journal.queries.overview import plan_view, plan_views
from asbuilt.lifecycle.memory import Kind, lesson
from tests.growth.rows import REPO

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session

    Operation = Callable[[Session, Blobs], object]

_SHOWN: Final = Address(LOCAL, REPO, "plans/p7.md")
_FRESH = count()
_THEN: Final = "2000-01-01T00:00:00.000Z"


def _fresh() -> Address:
    return Address(LOCAL, REPO, f"plans/fresh-{next(_FRESH)}.md")


def _status(session: Session, blobs: Blobs) -> object:
    return plan_views(session, blobs, LOCAL, REPO), approvals.counted(session, LOCAL)


def _one_plan(session: Session, blobs: Blobs) -> object:
    (known,) = plan_names.called(session, LOCAL, REPO, path="p7", slug="p7")
    return plan_view(session, blobs, Address(LOCAL, REPO, known.plan))


def _claim(session: Session, _: Blobs) -> object:
    address, run = _fresh(), new_id()
    open_plan(session, address, "fresh")
    taken = claims.acquire(session, address, run=run, mode="owner", host="here", actor="ann")
    claims.release(session, address, run=run, actor="ann")
    return taken


def _request(session: Session, _: Blobs) -> object:
    """Ask for a run, and let it end: what is measured next finds as much open as before."""
    address, run = _fresh(), new_id()
    options = {"slug": "fresh", "mode": "finish"}
    made = runs.request(session, address, run=run, slug="fresh", options=read_options(options), actor="ann")
    segments.close(session, Segment(LOCAL, REPO, run, 1, "", ""))
    runs.set_state(session, made, "landed")
    return made


def _question(session: Session, _: Blobs) -> object:
    address, run = _fresh(), new_id()
    open_plan(session, address, "fresh")
    wish = approvals.Wish(run, "continue", "go on?")
    asked = approvals.ask(session, address, key=f"{run}/between/2", wish=wish, actor="asbuilt")
    return approvals.answer(session, LOCAL, REPO, asked.number, reply="yes", actor="ann")


def _event(session: Session, _: Blobs) -> object:
    begun = AttemptBegun(phase="1", number=1, role="implement")
    return append(session, _SHOWN, begun, key=new_id(), actor="asbuilt", run="r")


def _repeated(session: Session, _: Blobs) -> object:
    return append(session, _SHOWN, RunEnded(state="landed"), key="1run-7/ended", actor="asbuilt")


def _learn(session: Session, _: Blobs) -> object:
    return memory.remember(session, LOCAL, REPO, [lesson(Kind.LESSON, new_id())], actor="asbuilt")


READS: Final[dict[str, Operation]] = {
    "status": _status,
    "status of one plan": _one_plan,
    "a part of a name": lambda session, _: plan_names.recent(session, LOCAL, REPO),
    "inbox": lambda session, _: approvals.waiting(session, LOCAL, REPO),
    "what waits to land": lambda session, _: runs.to_land(session, LOCAL, REPO),
    "log page": lambda session, _: last(session, _SHOWN, before=20, limit=200),
    "what was agreed to": lambda session, _: approvals.last_answered(session, LOCAL, REPO, under="tests/7/"),
    "what can go on": lambda session, _: runs.unfinished(session, LOCAL, REPO),
    "open runs": lambda session, _: runs.open_of(session, LOCAL, REPO),
    "open runs everywhere": lambda session, _: runs.open_of(session, LOCAL),
    "what was asked for": lambda session, _: segments.asked(session, LOCAL, machine="m"),
    "what has to stop": lambda session, _: runs.stopped(session, LOCAL),
    "what goes on": lambda session, _: segments.will_continue(session, LOCAL, "w1"),
    "a segment by its workflow": lambda session, _: segments.named(session, LOCAL, "w1.1"),
    "claims": lambda session, _: claims.every(session, LOCAL, REPO),
    "repositories": lambda session, _: repositories.every(session, LOCAL),
    "memory": lambda session, _: memory.every(session, LOCAL, REPO),
    "last events": lambda session, _: inventory.latest(session, LOCAL, REPO, limit=20),
}
WRITES: Final[dict[str, Operation]] = {
    "claim": _claim,
    "request": _request,
    "question and answer": _question,
    "event": _event,
    "event again": _repeated,
    "lesson": _learn,
}
OPERATIONS: Final = READS | WRITES
