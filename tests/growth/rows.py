"""A journal with a long past: plans that are over, as the journal's own functions write one, copied by SQL.

The last hundred have their whole history, because those are looked at; of the others what lists read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from asbuilt.events.attempts import (
    AttemptBegun,
    AttemptEnded,
    ChecksDone,
    TogetherDone,
    TreeKept,
    VerdictGiven,
    VerifierBegun,
)
from asbuilt.events.landings import LandingDone, LandingIntended, LandingTidied
from asbuilt.events.options_json import read_options
from asbuilt.events.phases import (
    BaselineDone,
    PhaseBegun,
    PhaseProven,
    SetupDone,
    TestsResolved,
    WorkspaceMade,
)
from asbuilt.events.plans import PlanMarked
from asbuilt.events.runs import ReportWritten, RunEnded, RunStarted
from asbuilt.journal import approvals, claims, repositories, runs
from asbuilt.journal.engine import segments
from asbuilt.journal.events import append, open_plan
from asbuilt.journal.ids import LOCAL, Address, Segment

if TYPE_CHECKING:
    from asbuilt.events.event import Event
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session, Store

REPO: Final = "6f9c"
SHOWN: Final = 100
"""Plans with their whole history, the newest of all."""
WAITING: Final = 20
"""Questions that nobody has answered, at any size."""
_FIRST: Final = Address(LOCAL, REPO, "plans/first.md")
_RUN: Final = "0run-first"
_COMMIT: Final = "7be20c1" + "0" * 33


def begin(store: Store, blobs: Blobs) -> None:
    """Write one plan that has landed, the hundred that are looked at, and what waits and is due."""
    with store.write() as session:
        known = repositories.Known(REPO, "/repositories/shop/.git", "1:1", None)
        repositories.remember(session, LOCAL, known)
        _tell(session, blobs)
        _copy(session, 1, SHOWN, year=2099, events=1_000)
        for number in range(WAITING):
            _leave_waiting(session, number)


def grow(store: Store, plans: int, *, before: int = SHOWN, events: int = 2) -> None:
    """Add finished plans until there are so many; each has only its first and last events."""
    step = 100_000
    for first in range(before + 1, plans + 1, step):
        with store.write() as session:
            _copy(session, first, min(plans, first + step - 1), year=2001, events=events)


def _tell(session: Session, blobs: Blobs) -> None:
    """Write down a run from its request to its landing."""
    options = {"slug": "first", "mode": "finish", "auto": True, "agent": "scripted", "branch": "main"}
    run = runs.request(session, _FIRST, run=_RUN, slug="first", options=read_options(options), actor="ann")
    claims.acquire(session, _FIRST, run=_RUN, mode="finish", host="here", actor="asbuilt")
    for event, key in _course(blobs):
        append(session, _FIRST, event, key=f"{_RUN}/{key}", actor="asbuilt", run=_RUN)
    wish = approvals.Wish(_RUN, "tests", "prove with `make test`?")
    asked = approvals.ask(session, _FIRST, key=f"tests/ab/{_RUN}", wish=wish, actor="asbuilt")
    approvals.answer(session, LOCAL, REPO, asked.number, reply="yes", actor="ann")
    segments.close(session, Segment(LOCAL, REPO, _RUN, 1, "", ""))
    runs.set_state(session, run, "landed")
    claims.release(session, _FIRST, run=_RUN, actor="asbuilt")


def _course(blobs: Blobs) -> list[tuple[Event, str]]:
    """Give the events of a run of one phase, each with its key."""
    outline = {"phases": {"1": []}, "titles": {"1": "Token bucket"}, "done": [], "unlanded": []}
    kept = blobs.put(json.dumps(outline).encode())
    return [
        (RunStarted(base=_COMMIT, outline=kept), "started"),
        (TestsResolved(source="given", command="make test"), "tests"),
        (WorkspaceMade(lane="main"), "workspace"),
        (SetupDone(outcome="PASS", digest="none", why="none is set"), "setup"),
        (BaselineDone(outcome="PASS", why="214 ran", ran=214, failed=0), "baseline"),
        (PhaseBegun(phase="1", intent="sha256:9c41", text="sha256:77"), "1/begun"),
        (AttemptBegun(phase="1", number=1, role="implement", agent="scripted"), "1/1/begun/1"),
        (AttemptEnded(phase="1", number=1, ending="done", attempt="1.1", cost_usd=0.4), "1/1/ended/1"),
        (TreeKept(phase="1", number=1, commit=_COMMIT, tree=_COMMIT, changed=True), "1/1/kept"),
        (ChecksDone(phase="1", number=1, outcome="PASS"), "1/1/checks"),
        (VerifierBegun(phase="1", number=1), "1/1v/begun"),
        (VerdictGiven(phase="1", number=1, outcome="PASS", attempt="1.1v", cost_usd=0.1), "1/1/verdict"),
        (PhaseProven(phase="1", commit=_COMMIT), "1/proven"),
        (TogetherDone(outcome="PASS"), "together"),
        (ReportWritten(report="sha256:51"), "report"),
        (LandingIntended(new=_COMMIT, old=_COMMIT), "landing/1/intended"),
        (LandingDone(new=_COMMIT, commits=(("1", _RUN, _COMMIT, _COMMIT),)), "landing/1/done"),
        (PlanMarked(), "marked"),
        (LandingTidied(), "tidied"),
        (RunEnded(state="landed"), "ended"),
    ]


def _leave_waiting(session: Session, number: int) -> None:
    """Let a run wait for a person, and another one for a time."""
    for why, due in (("person", runs.FAR), ("time", f"2098-01-01T00:00:{number:02}.000Z")):
        address = Address(LOCAL, REPO, f"plans/{why}-{number}.md")
        name = f"0run-{why}-{number:02}"
        open_plan(session, address, f"{why}-{number}")
        claims.acquire(session, address, run=name, mode="finish", host="here", actor="asbuilt")
        options = {"slug": f"{why}-{number}", "mode": "finish"}
        run = runs.request(
            session, address, run=name, slug=f"{why}-{number}", options=read_options(options), actor="ann"
        )
        segments.close(session, Segment(LOCAL, REPO, name, 1, "", ""))
        runs.plan_segment(session, Segment(LOCAL, REPO, name, 2, due, why))
        runs.set_state(session, run, "waiting")
        if why == "person":
            wish = approvals.Wish(name, "continue", "continue with phase 2?")
            approvals.ask(session, address, key=f"{name}/between/2", wish=wish, actor="asbuilt")


_COPIES: Final = (
    """INSERT INTO heads (org, repo, plan, slug, seq, epoch, runs, state, changed_at)
        SELECT org, repo, 'plans/p' || i || '.md', 'p' || i, seq, epoch, runs, state, at
        FROM number, heads WHERE plan = :plan""",
    """INSERT INTO runs (org, repo, run, plan, number, state, needs, options, stop, at, ended_at)
        SELECT org, repo, '1run-' || i, 'plans/p' || i || '.md', runs.number, state, needs,
        replace(options, 'first', 'p' || i), stop, number.at, number.at
        FROM number, runs WHERE run = :run""",
    """INSERT INTO segments (org, repo, run, n, due_at, why, closed_at)
        SELECT org, repo, '1run-' || i, n, at, why, at FROM number, segments WHERE run = :run""",
    """INSERT INTO approvals (org, repo, number, key, plan, run, phase, kind, question, intent, asked_by,
        asked_at, answer, answered_by, answered_at, note)
        SELECT org, repo, -i, 'tests/' || i || '/1run-' || i, 'plans/p' || i || '.md', '1run-' || i,
        phase, kind, question, intent, asked_by, at, answer, answered_by, at, note
        FROM number, approvals WHERE run = :run""",
    """INSERT INTO events (org, repo, plan, seq, key, kind, v, at, actor, data)
        SELECT org, repo, 'plans/p' || i || '.md', seq, replace(key, :run, '1run-' || i), kind, v,
        number.at, actor, replace(data, :run, '1run-' || i)
        FROM number, events WHERE plan = :plan AND (seq < :events OR kind = 'run.ended')""",
)


def _copy(session: Session, first: int, last: int, *, year: int, events: int) -> None:
    """Copy the first plan under other names, each a second after the one before."""
    two = "substr(CAST(100 + {} AS text), 2)"
    days, hours, minutes, seconds = "1 + i / 86400", "i / 3600 % 24", "i / 60 % 60", "i % 60"
    clock = f"{two.format(hours)} || ':' || {two.format(minutes)} || ':' || {two.format(seconds)}"
    number = (
        "WITH RECURSIVE counter(i) AS (SELECT CAST(:first AS integer) UNION ALL"
        " SELECT i + 1 FROM counter WHERE i < :last), number AS"
        f" (SELECT i, '{year}-01-' || {two.format(days)} || 'T' || {clock} || '.000Z' AS at FROM counter) "
    )
    for statement in _COPIES:
        session.run(number + statement, first=first, last=last, plan=_FIRST.plan, run=_RUN, events=events)
