"""Record that a run is over, and everything that follows from it, in one transaction."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from asbuilt.errors import AsbuiltError, SandboxUnavailable
from asbuilt.events.phases import PhaseReturned
from asbuilt.events.runs import RunEnded
from asbuilt.flows.engine.transient import words_of
from asbuilt.flows.run.record import ACTOR, say
from asbuilt.journal import approvals, claims, issues, memory, runs, schedules
from asbuilt.journal.events import append, whole_history
from asbuilt.journal.turns import breakers, landing_line
from asbuilt.lifecycle.memory import lessons_of_run
from asbuilt.lifecycle.schedule.firing import ends_with

if TYPE_CHECKING:
    from asbuilt.events.options import Parent
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.runs import Run

MAX_REASON: Final = 900


def end(
    session: Session, run: Run, state: str, reason: str, *, following: str = "", is_complete: bool = False
) -> None:
    """Record that a run is over, store its lessons, and release its plan.

    First its schedule ends, if another run could only end the same way.
    """
    landing_line.leave(session, run)
    over = ends_with(state, is_complete=is_complete) if run.options.kind == "run" else None
    if over is not None:
        schedules.end(session, run.address, reason=over, actor=ACTOR)
    say(session, run, RunEnded(state=state, reason=reason[:MAX_REASON], next=following), "ended")
    runs.set_state(session, run, state)
    _learn(session, run)
    is_over = state == "stopped" or (is_complete and state in ("landed", "done"))
    if is_over and run.options.kind in ("run", "land"):
        issues.release(session, run.address)
    if run.options.kind == "author":
        # Questions of other runs may be answered for the next run; those of an authoring end with it.
        approvals.withdraw(session, run.org, run.repo, run.run, actor=ACTOR)
    claims.release(session, run.address, run=run.run, actor=ACTOR)
    breakers.release(session, run.org, run.run)
    if run.options.parent:
        _return(session, run, run.options.parent, state, reason)


def _return(session: Session, run: Run, parent: Parent, state: str, reason: str) -> None:
    """Record the end of a delegated run in the run that waits for it, and wake that run."""
    returned = PhaseReturned(phase=parent.phase, state=state, reason=reason[:MAX_REASON])
    address, key = run.address._replace(plan=parent.plan), f"{parent.run}/{parent.phase}/returned"
    append(session, address, returned, key=key, actor=ACTOR, run=parent.run)
    runs.wake(session, run.org, run.repo, parent.run)


def refused(blobs: Blobs, refusal: AsbuiltError) -> RunEnded:
    """Return how a run ends that an error stopped."""
    reason, following = (part[:MAX_REASON] for part in words_of(refusal))
    command, output = _not_run(blobs, refusal)
    return RunEnded(
        state="failed", reason=reason, next=following, code=refusal.exit_code, command=command, output=output
    )


def _not_run(blobs: Blobs, error: AsbuiltError) -> tuple[str, str | None]:
    """Report the command for which no sandbox started, and what the sandbox printed."""
    if not isinstance(error, SandboxUnavailable) or not error.output:
        return "", None
    return shlex.join(error.argv)[:MAX_REASON], blobs.put(error.output)


def _learn(session: Session, run: Run) -> None:
    entries = whole_history(session, run.address)
    slug = run.options.slug or run.plan
    learnt = lessons_of_run(run.run, slug=slug, plan=run.plan, entries=entries)
    memory.remember(session, run.org, run.repo, learnt, actor=ACTOR)
