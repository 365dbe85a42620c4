"""Runs and their segments: what was requested, and when it is due.

The journal decides: the engine executes these rows, and its own state is not read here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.runs import PauseAsked, ResumeAsked, RunRequested
from asbuilt.journal.database.store import first
from asbuilt.journal.encoding.codec import newer_options, options_of, options_text
from asbuilt.journal.events import append, open_plan
from asbuilt.journal.ids import Address

if TYPE_CHECKING:
    from asbuilt.events.options import RunOptions
    from asbuilt.journal.database.store import Row, Session

ENDED: Final = ("landed", "held", "undone", "done", "failed", "stopped", "pr-ready", "pr-ci-failing")
FAR: Final = "9999-12-31T00:00:00.000Z"
"""Due time of a run that waits for a user: never; an answer makes it due."""
SEGMENT: Final = "org, repo, run, n, due_at, why, worker"
"""Columns of a segment."""
_COLUMNS: Final = "org, repo, run, plan, number, state, needs, options, stop, at, ended_at"


KNOWN_NEEDS: Final = 1
"""Bump when an older worker must not touch new runs. Such a worker leaves them alone and reports it."""


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
        """Return whether it ended without a change: it verified finished work, or found nothing to do."""
        return self.state == "done" and self.options.kind in ("run", "land", "undo", "verify")


class Pauses(NamedTuple):
    """Number of pause and resume requests of a run."""

    asked: int
    over: int

    @property
    def is_open(self) -> bool:
        """Return whether the last pause is in effect."""
        return self.asked > self.over


class Segment(NamedTuple):
    """The part of a run between two waits: when it is due, and what it waits for."""

    org: str
    repo: str
    run: str
    n: int
    due_at: str
    why: str
    worker: str | None = None
    """The worker that has it; None: any free worker claims it when it is due."""

    @property
    def workflow(self) -> str:
        """Return the engine's workflow id."""
        return f"{self.run}.{self.n}"


def request(  # noqa: PLR0913 - a request has these parts
    session: Session,
    address: Address,
    *,
    run: str,
    slug: str,
    options: RunOptions,
    actor: str,
    needs: int = KNOWN_NEEDS,
) -> Run:
    """Record a request for a run; the worker takes it from there."""
    open_plan(session, address, slug)
    head = session.rows(
        "UPDATE heads SET runs = runs + 1, state = 'requested'"
        " WHERE org = :org AND repo = :repo AND plan = :plan RETURNING runs",
        **address._asdict(),
    )
    session.run(
        "INSERT INTO runs (org, repo, run, plan, number, state, needs, options, at)"
        " VALUES (:org, :repo, :run, :plan, :number, 'requested', :needs, :options, :now)",
        **address._asdict(),
        run=run,
        number=head[0]["runs"],
        needs=needs,
        options=options_text(options),
        now=session.now,
    )
    plan_segment(session, Segment(address.org, address.repo, run, 1, session.now, "start"))
    append(
        session,
        address,
        RunRequested(number=head[0]["runs"], mode=options.mode),
        key=f"{run}/requested",
        actor=actor,
        run=run,
    )
    session.poke()
    found = find(session, address.org, address.repo, run)
    if found is None:
        raise LookupError(run)
    return found


def plan_segment(session: Session, segment: Segment) -> None:
    """Record when a run continues; planning the same segment again changes nothing."""
    session.run(
        "INSERT INTO segments (org, repo, run, n, due_at, why, worker)"
        " VALUES (:org, :repo, :run, :n, :due_at, :why, :worker)"
        " ON CONFLICT (org, repo, run, n) DO NOTHING",
        **segment._asdict(),
    )


def close_segment(session: Session, segment: Segment) -> bool:
    """Close a segment; return False if it was closed before."""
    closed = session.run(
        "UPDATE segments SET closed_at = :now WHERE org = :org AND repo = :repo AND run = :run AND n = :n"
        " AND closed_at IS NULL",
        org=segment.org,
        repo=segment.repo,
        run=segment.run,
        n=segment.n,
        now=session.now,
    )
    return bool(closed)


def wake(session: Session, org: str, repo: str, run: str) -> list[Segment]:
    """Make a run's waiting segments due now; return them."""
    rows = session.rows(
        "UPDATE segments SET due_at = :now WHERE org = :org AND repo = :repo AND run = :run"
        f" AND closed_at IS NULL AND due_at > :now RETURNING {SEGMENT}",
        org=org,
        repo=repo,
        run=run,
        now=session.now,
    )
    if rows:
        session.poke()
    return [Segment(**row) for row in rows]


def open_segments(session: Session, org: str, *, limit: int = 500) -> list[Segment]:
    """List the open segments, the earliest due first."""
    rows = session.rows(
        f"SELECT {SEGMENT} FROM segments WHERE org = :org AND closed_at IS NULL"
        " ORDER BY due_at, run LIMIT :limit",
        org=org,
        limit=limit,
    )
    return [Segment(**row) for row in rows]


def due(session: Session, org: str, repo: str | None, *, limit: int = 200) -> list[tuple[Run, Segment]]:
    """List the runs of a repository, or of all, that continue automatically, the earliest first."""
    columns = ", ".join(f"run.{name}" for name in _COLUMNS.split(", "))
    rows = session.rows(
        f"SELECT segment.n, segment.due_at, segment.why, segment.worker, {columns} FROM segments AS segment"
        " JOIN runs AS run ON run.org = segment.org AND run.repo = segment.repo AND run.run = segment.run"
        f" WHERE segment.org = :org{'' if repo is None else ' AND segment.repo = :repo'}"
        " AND segment.closed_at IS NULL AND segment.due_at < :far ORDER BY segment.due_at, segment.run"
        " LIMIT :limit",
        org=org,
        repo=repo,
        far=FAR,
        limit=limit,
    )
    found = []
    for row in rows:
        n, due_at, why, worker = (row.pop(name) for name in ("n", "due_at", "why", "worker"))
        run = _run(row)
        found.append((run, Segment(run.org, run.repo, run.run, n, due_at, why, worker)))
    return found


def set_state(session: Session, run: Run, state: str) -> None:
    """Set a run's state, by which lists filter; the caller writes the event.

    If the run changed nothing, its plan keeps its earlier state.
    """
    over = state in ENDED
    is_idle = run._replace(state=state).is_idle
    earlier = [one for one in of_plan(session, run.address) if one.number < run.number] if is_idle else []
    before = standing(earlier)
    session.run(
        "UPDATE heads SET state = :state"
        " WHERE org = :org AND repo = :repo AND plan = :plan AND runs = :number",
        **run.address._asdict(),
        number=run.number,
        state=before.state if before is not None else state,
    )
    session.run(
        "UPDATE runs SET state = :state, ended_at = CASE WHEN :over = 1 THEN :now ELSE ended_at END"
        " WHERE org = :org AND repo = :repo AND run = :run",
        org=run.org,
        repo=run.repo,
        run=run.run,
        state=state,
        over=int(over),
        now=session.now,
    )


def set_options(session: Session, run: Run, options: RunOptions) -> None:
    """Replace a run's options; the caller writes the events."""
    session.run(
        "UPDATE runs SET options = :options WHERE org = :org AND repo = :repo AND run = :run",
        org=run.org,
        repo=run.repo,
        run=run.run,
        options=options_text(options),
    )


def ask_to_stop(session: Session, org: str, repo: str, run: str, *, reason: str) -> bool:
    """Record a stop request; return False if the run has ended."""
    changed = session.run(
        "UPDATE runs SET stop = :reason"
        " WHERE org = :org AND repo = :repo AND run = :run AND ended_at IS NULL",
        org=org,
        repo=repo,
        run=run,
        reason=reason,
    )
    if changed:
        session.poke()
    return bool(changed)


def pauses(session: Session, run: Run) -> Pauses:
    """Count the pause and resume requests of a run."""
    rows = session.rows(
        "SELECT kind, count(*) AS times FROM events WHERE org = :org AND repo = :repo AND plan = :plan"
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
    rows = session.rows(
        f"SELECT {_COLUMNS} FROM runs WHERE org = :org{'' if repo is None else ' AND repo = :repo'}"
        " AND ended_at IS NULL ORDER BY repo, at",
        org=org,
        repo=repo,
    )
    return [_run(row) for row in rows]


def unfinished(session: Session, org: str, repo: str, *, limit: int = 200) -> list[Run]:
    """List the newest run of each plan if it is in progress, failed or stopped, newest first."""
    rows = session.rows(
        f"SELECT {', '.join(f'run.{name}' for name in _COLUMNS.split(', '))} FROM heads AS head"
        " JOIN runs AS run ON run.org = head.org AND run.repo = head.repo AND run.plan = head.plan"
        " AND run.number = head.runs WHERE head.org = :org AND head.repo = :repo"
        # Must match the condition of its partial index exactly.
        " AND head.state IN ('requested', 'running', 'waiting', 'paused', 'failed', 'stopped')"
        " ORDER BY head.changed_at DESC, head.plan LIMIT :limit",
        org=org,
        repo=repo,
        limit=limit,
    )
    return [_run(row) for row in rows]


def to_land(session: Session, org: str, repo: str, *, limit: int = 200) -> list[Run]:
    """List the runs whose proven work waits for a user to land it, newest first."""
    rows = session.rows(
        "SELECT plan FROM heads WHERE org = :org AND repo = :repo"
        # Must match the condition of its partial index exactly.
        " AND state IN ('held', 'pr-ready', 'pr-ci-failing') ORDER BY changed_at DESC, plan LIMIT :limit",
        org=org,
        repo=repo,
        limit=limit,
    )
    found = (standing(of_plan(session, Address(org, repo, row["plan"]))) for row in rows)
    return [run for run in found if run is not None]


def standing(newest_first: list[Run]) -> Run | None:
    """Return the run that determines a plan's state: the newest that changed something, else the newest."""
    latest = newest_first[0] if newest_first else None
    return next((run for run in newest_first if not run.is_idle), latest)


def find(session: Session, org: str, repo: str, run: str) -> Run | None:
    """Return a run by its id."""
    row = first(
        session.rows(
            f"SELECT {_COLUMNS} FROM runs WHERE org = :org AND repo = :repo AND run = :run",
            org=org,
            repo=repo,
            run=run,
        )
    )
    return None if row is None else _run(row)


def of_plan(session: Session, address: Address, *, limit: int = 50) -> list[Run]:
    """List a plan's runs, the newest first."""
    rows = session.rows(
        f"SELECT {_COLUMNS} FROM runs WHERE org = :org AND repo = :repo AND plan = :plan"
        " ORDER BY number DESC LIMIT :limit",
        **address._asdict(),
        limit=limit,
    )
    return [_run(row) for row in rows]


def _run(row: Row) -> Run:
    read = newer_options if row["needs"] > KNOWN_NEEDS else options_of
    return Run(**{**row, "options": read(row["options"])})
