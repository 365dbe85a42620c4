"""Record that a run is over, and everything that follows from it, in one transaction."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from asbuilt.errors import AsbuiltError, SandboxUnavailable
from asbuilt.events.options import Parent
from asbuilt.events.phases import PhaseReturned
from asbuilt.events.runs import RunEnded
from asbuilt.flows.engine.transient import words_of
from asbuilt.flows.run.record import ACTOR, append_event
from asbuilt.journal import approvals, claims, issue_claims, memory, runs, schedules
from asbuilt.journal.events import append, whole_history
from asbuilt.journal.queues import account_breakers, landing_queue
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.memory import lessons_of_run
from asbuilt.lifecycle.schedule.firing import ends_with

if TYPE_CHECKING:
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session

MAX_REASON: Final = 900


class Advice(NamedTuple):
    """What the user can do about an end, and an alternative."""

    following: str = ""
    other: str = ""


NONE: Final = Advice()


def end(
    session: Session, run: Run, state: str, reason: str, *, advice: Advice = NONE, is_complete: bool = False
) -> None:
    """Record that a run is over, store its lessons, and release its plan.

    First its schedule ends, if another run could only end the same way.
    """
    landing_queue.leave(session, run)
    over = ends_with(state, is_complete=is_complete) if run.options.kind == "run" else None
    if over is not None:
        schedules.end(session, run.address, reason=over, actor=ACTOR)
    ended = RunEnded(state=state, reason=reason[:MAX_REASON], next=advice.following, other=advice.other)
    append_event(session, run, ended, "ended")
    runs.set_state(session, run, state)
    slug, entries = run.options.slug or run.plan, whole_history(session, run.address)
    learnt = lessons_of_run(run.run, slug=slug, plan=run.plan, entries=entries)
    memory.remember(session, run.org, run.repo, learnt, actor=ACTOR)
    is_over = state == "stopped" or (is_complete and state in ("landed", "done"))
    if is_over and run.options.kind in ("run", "land"):
        issue_claims.release(session, run.address)
    # A waiver, a sign-off or an approval that is given tomorrow holds in the next run.
    lasts = run.options.kind != "author"
    approvals.withdraw(session, run.org, run.repo, run.run, actor=ACTOR, keeps_lasting=lasts)
    claims.release(session, run.address, run=run.run, actor=ACTOR)
    account_breakers.release(session, run.org, run.run)
    if run.options.parent:
        _return(session, run, run.options.parent, state, reason)


def _return(session: Session, run: Run, parent: Parent, state: str, reason: str) -> None:
    """Record the end of a delegated run in the run that waits for it, and wake that run."""
    returned = PhaseReturned(phase=parent.phase, state=state, reason=reason[:MAX_REASON])
    address, key = run.address._replace(plan=parent.plan), f"{parent.run}/{parent.phase}/returned"
    append(session, address, returned, key=key, actor=ACTOR, run=parent.run)
    runs.wake(session, run.org, run.repo, parent.run)


def refused(blobs: Blobs, refusal: AsbuiltError) -> RunEnded:
    """Return how a run ends that an error stopped, with the command for which no sandbox started."""
    reason, following = (part[:MAX_REASON] for part in words_of(refusal))
    ended = RunEnded(state="failed", reason=reason, next=following, code=refusal.exit_code)
    if not isinstance(refusal, SandboxUnavailable) or not refusal.output:
        return ended
    command = shlex.join(refusal.argv)[:MAX_REASON]
    return replace(ended, command=command, output=blobs.put(refusal.output))
