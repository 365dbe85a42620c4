"""Runs and their segments: what was requested, and when it is due.

A segment is enqueued in the transaction that plans it. A command has no engine, so it marks the segment as
requested.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.events.landings import LandingDeclined
from asbuilt.events.options import RunOptions
from asbuilt.events.runs import PauseAsked, ResumeAsked, RunRequested
from asbuilt.journal.database.table import OF_PLAN, OF_REPO, OF_RUN, Table, insert
from asbuilt.journal.encoding.codec import newer_options, options_of, options_text
from asbuilt.journal.events import append, keyed, open_plan
from asbuilt.journal.ids import Address, Segment
from asbuilt.lifecycle.fleet import place_of
from asbuilt.lifecycle.status.ended_runs import changed_nothing, reverted_nothing

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session

ENDED: Final = ("landed", "held", "undone", "done", "failed", "stopped", "pr-ready", "pr-ci-failing")
FAR: Final = "9999-12-31T00:00:00.000Z"
"""Due time of a run that waits for a user: never; an answer makes it due."""
SEGMENTS: Final = Table("segments", Segment, Segment._fields)
KNOWN_NEEDS: Final = 1
"""Bump when an older worker must not touch new runs, and enqueue those on a queue with another name.

An older worker leaves them alone and reports it.
"""


class Run(NamedTuple):
    """One execution of a plan."""

    org: str
    repo: str
    run: str
    plan: str
    number: int
    state: str
    needs: int
    """The capability that a worker must have; a worker leaves runs above `KNOWN_NEEDS` alone."""
    options: RunOptions
    stop: str | None
    at: str
    ended_at: str | None

    @property
    def address(self) -> Address:
        """Return the plan's address."""
        return Address(self.org, self.repo, self.plan)

    @property
    def name(self) -> str:
        """Return the name that users type: `rate-limit.1`."""
        return f"{self.options.slug}.{self.number}"

    @property
    def is_in_repository(self) -> bool:
        """Return whether its plan is a file of the repository, not in a folder of the user."""
        return not self.plan.startswith(("~/", "/"))

    @property
    def is_newer(self) -> bool:
        """Return whether only a newer asbuilt can work on it."""
        return self.needs > KNOWN_NEEDS

    @property
    def is_over(self) -> bool:
        """Return whether the run has ended."""
        return self.ended_at is not None

    @property
    def is_idle(self) -> bool:
        """Return whether it ended without a change of its plan."""
        return changed_nothing(self.options.kind, self.state)


def _run(*, needs: int, options: str, **row: Any) -> Run:  # noqa: ANN401 - columns
    read = newer_options if needs > KNOWN_NEEDS else options_of
    return Run(**row, needs=needs, options=read(options))


_RUNS: Final = Table("runs", _run, Run._fields)


class Pauses(NamedTuple):
    """Number of pause and resume requests of a run."""

    asked: int
    over: int

    @property
    def is_open(self) -> bool:
        """Return whether the last pause is in effect."""
        return self.asked > self.over


def request(  # noqa: PLR0913 - a request has these parts
    session: Session,
    address: Address,
    *,
    run: str,
    slug: str,
    options: RunOptions,
    actor: str,
    needs: int = KNOWN_NEEDS,
    place: str | None = None,
) -> Run:
    """Record a request for a run; the worker takes it from there.

    A run of the fleet is left to the first worker that may take it. Any other run works at `place`, a
    machine; None: on its repository's machine.
    """
    order = place_of(options)
    open_plan(session, address, slug)
    (head,) = session.rows(
        f"UPDATE heads SET runs = runs + 1, state = 'requested' WHERE {OF_PLAN} RETURNING runs",
        **address._asdict(),
    )
    given = {"run": run, "number": head["runs"], "needs": needs, "options": options_text(options)}
    given |= {"state": "requested", "at": session.now, "place": order or place}
    insert(session, "runs", **address._asdict(), **given)
    segment = Segment(address.org, address.repo, run, 1, session.now, "start")
    plan_segment(session, segment, is_for_any=order is not None)
    event = RunRequested(number=head["runs"], mode=options.mode)
    append(session, address, event, key=f"{run}/requested", actor=actor, run=run)
    session.wake()
    found = find(session, address.org, address.repo, run)
    if found is None:
        raise LookupError(run)
    return found


def plan_segment(session: Session, segment: Segment, *, is_for_any: bool = False) -> None:
    """Record when a run continues, and enqueue that; planning the same segment again changes nothing.

    A segment that waits for a user is not enqueued. A process without an engine leaves it to a worker, and
    any process one that is `for_any` worker of the fleet.
    """
    is_done = segment.due_at >= FAR or (not is_for_any and session.enqueue(segment))
    once = "ON CONFLICT (org, repo, run, n) DO NOTHING"
    insert(session, "segments", once, **segment._asdict(), asked=int(not is_done))


def wake(session: Session, org: str, repo: str, run: str, *, lane: str | None = None) -> list[Segment]:
    """Make a run's waiting segments due now, of one lane or of all; return them. A worker enqueues them."""
    of_lane = "" if lane is None else " AND lane = :lane"
    change = f"SET due_at = :now, asked = 1 WHERE {OF_RUN}{of_lane} AND closed_at IS NULL AND due_at > :now"
    woken = SEGMENTS.changed(session, change, org=org, repo=repo, run=run, lane=lane, now=session.now)
    if woken:
        session.wake()
    return woken


def stopped(session: Session, org: str) -> list[str]:
    """List the runs that have to stop and have not ended."""
    rows = session.rows(
        "SELECT run FROM runs WHERE org = :org AND stop IS NOT NULL AND ended_at IS NULL", org=org
    )
    return [str(row["run"]) for row in rows]


def open_segments(session: Session, org: str, *, limit: int = 500) -> list[Segment]:
    """List the open segments, the earliest due first."""
    where = "org = :org AND closed_at IS NULL ORDER BY due_at, run LIMIT :limit"
    return SEGMENTS.every(session, where, org=org, limit=limit)


def set_state(session: Session, run: Run, state: str) -> None:
    """Set a run's state, and its plan's if it changed something; the caller writes the event."""
    is_idle = run._replace(state=state).is_idle
    earlier = (
        [other_run for other_run in of_plan(session, run.address) if other_run.number < run.number]
        if is_idle
        else []
    )
    before = standing(earlier)
    of_plan_now = before.state if before is not None else state
    change = f"UPDATE heads SET state = :state WHERE {OF_PLAN} AND runs = :number"
    session.run(change, **run.address._asdict(), number=run.number, state=of_plan_now)
    ended = ", ended_at = :now" if state in ENDED else ""
    _set(session, run, f"state = :state{ended}", state=state, now=session.now)


def set_options(session: Session, run: Run, options: RunOptions) -> None:
    """Replace a run's options; the caller writes the events."""
    _set(session, run, "options = :options", options=options_text(options))


def _set(session: Session, run: Run, change: str, **values: object) -> None:
    where = {"org": run.org, "repo": run.repo, "run": run.run}
    session.run(f"UPDATE runs SET {change} WHERE {OF_RUN}", **where, **values)


def ask_to_stop(session: Session, org: str, repo: str, run: str, *, reason: str) -> bool:
    """Record a stop request; return False if the run has ended."""
    change = f"UPDATE runs SET stop = :reason WHERE {OF_RUN} AND ended_at IS NULL"
    changed = session.run(change, org=org, repo=repo, run=run, reason=reason)
    if changed:
        session.wake()
    return bool(changed)


def pauses(session: Session, run: Run) -> Pauses:
    """Count the pause and resume requests of a run."""
    rows = session.rows(
        f"SELECT kind, count(*) AS times FROM events WHERE {OF_PLAN}"
        " AND key LIKE :keys AND kind IN (:pause, :resume) GROUP BY kind",
        **run.address._asdict(),
        keys=f"{run.run}/%",
        pause=PauseAsked.kind,
        resume=ResumeAsked.kind,
    )
    times = {row["kind"]: int(row["times"]) for row in rows}
    return Pauses(times.get(PauseAsked.kind, 0), times.get(ResumeAsked.kind, 0))


def open_of(session: Session, org: str, repo: str | None = None) -> list[Run]:
    """List the runs of a repository, or of each repository, that have not ended, oldest first."""
    where = f"org = :org{'' if repo is None else ' AND repo = :repo'} AND ended_at IS NULL ORDER BY repo, at"
    return _RUNS.every(session, where, org=org, repo=repo)


def unfinished(session: Session, org: str, repo: str, *, limit: int = 200) -> list[Run]:
    """List the newest run of each plan if it is in progress, failed or stopped, newest first.

    Of a plan whose newest run is an undo that reverted nothing: the run before it.
    """
    newest = Table(
        "heads AS head JOIN runs AS run ON run.org = head.org AND run.repo = head.repo"
        " AND run.plan = head.plan AND run.number = head.runs",
        _run,
        [f"run.{name}" for name in Run._fields],
    )
    where = (
        "head.org = :org AND head.repo = :repo"
        # Must match the condition of its partial index exactly.
        " AND head.state IN ('requested', 'running', 'waiting', 'paused', 'failed', 'stopped')"
        " ORDER BY head.changed_at DESC, head.plan LIMIT :limit"
    )
    found = newest.every(session, where, org=org, repo=repo, limit=limit)
    before = (to_continue([run]) or to_continue(of_plan(session, run.address)) for run in found)
    return [run for run in before if run is not None]


def decline(session: Session, run: Run, *, note: str, actor: str) -> None:
    """Record that a user declined to land what a run has proven."""
    event = LandingDeclined(by=actor, note=note)
    append(session, run.address, event, key=_declined(run), actor=actor, run=run.run)


def _declined(run: Run) -> str:
    return f"{run.run}/declined"


def to_land(session: Session, org: str, repo: str, *, limit: int = 200) -> list[Run]:
    """List the runs whose proven work waits for a user to land it, newest first, without declined ones."""
    where = (
        f"{OF_REPO}"
        # Must match the condition of its partial index exactly.
        " AND state IN ('held', 'pr-ready', 'pr-ci-failing') ORDER BY changed_at DESC, plan LIMIT :limit"
    )
    held = Table("heads", Address, Address._fields).every(session, where, org=org, repo=repo, limit=limit)
    found = (standing(of_plan(session, address)) for address in held)
    waiting = (run for run in found if run is not None)
    return [run for run in waiting if keyed(session, run.address, _declined(run)) is None]


def standing(newest_first: list[Run]) -> Run | None:
    """Return the run that determines a plan's state: the newest that changed something, else the newest."""
    latest = newest_first[0] if newest_first else None
    return next((run for run in newest_first if not run.is_idle), latest)


def to_continue(newest_first: list[Run]) -> Run | None:
    """Return the newest run, without undos that reverted nothing: `asbuilt run` follows it."""
    return next((run for run in newest_first if not reverted_nothing(run.options.kind, run.state)), None)


def vain_undo(newest_first: list[Run]) -> Run | None:
    """Return the newest undo that reverted nothing, if no run has changed the plan since."""
    idle = takewhile(lambda run: run.is_idle, newest_first)
    return next((run for run in idle if run.options.kind == "undo"), None)


def find(session: Session, org: str, repo: str, run: str) -> Run | None:
    """Return a run by its id."""
    return _RUNS.first(session, OF_RUN, org=org, repo=repo, run=run)


def name_of(session: Session, org: str, repo: str, run: str) -> str:
    """Return the name that users type for a run; its id if the journal does not know it."""
    found = find(session, org, repo, run)
    return found.name if found else run


def of_plan(session: Session, address: Address, *, limit: int = 50) -> list[Run]:
    """List a plan's runs, the newest first."""
    where = f"{OF_PLAN} ORDER BY number DESC LIMIT :limit"
    return _RUNS.every(session, where, **address._asdict(), limit=limit)
