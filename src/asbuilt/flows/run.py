"""A run: decide, perform, until it ends or waits. Every answer is recorded, so a replay repeats none."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

from asbuilt.errors import AsbuiltError
from asbuilt.flows.calling import Calling
from asbuilt.flows.engine import step
from asbuilt.flows.record import ACTOR, say
from asbuilt.journal import approvals, claims, runs
from asbuilt.journal.views import facts_of
from asbuilt.lifecycle import phases

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.flows.perform import Performer
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Session, Store
    from asbuilt.lifecycle.facts import RunFacts
    from asbuilt.ports import Attention

_MAX_REASON: Final = 900

Plain = dict[str, Any]
"""What passes through the engine: JSON and nothing else."""


class Runs:
    """The runs of one worker."""

    def __init__(
        self, store: Store, blobs: Blobs, performer: Performer, attention: Attention | None = None
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._performer = performer
        self._calling = Calling(store, attention)

    def segment(self, org: str, repo: str, run: str, n: int) -> None:
        """Go through one segment of a run: it ends when the run does, or with the next one planned."""
        if n > 1:
            step("go on", self._go_on, org, repo, run)
        for turn in count(1):
            told: Plain = step(f"decide {turn}", self._decide, org, repo, run)
            move = _move(told)
            if isinstance(move, phases.Wait):
                step(f"wait {turn}", self._wait, org, repo, run, n, told)
                return
            if isinstance(move, phases.End):
                step(f"end {turn}", self._end, org, repo, run, n, told)
                return
            if isinstance(move, phases.Ask):
                step(f"ask {turn}", self._ask, org, repo, run, told)
            else:
                step(f"{told['move']} {turn}", self._perform, org, repo, run, told)

    def _go_on(self, org: str, repo: str, run: str) -> None:
        with self._store.write() as session:
            found = _found(session, org, repo, run)
            if not found.is_over:
                runs.set_state(session, found, "running")

    def _decide(self, org: str, repo: str, run: str) -> Plain:
        with self._store.read() as session:
            found = _found(session, org, repo, run)
            move = phases.next_move(facts_of(session, self._blobs, found), session.now)
        return {"move": type(move).__name__, **move._asdict()}

    def _perform(self, org: str, repo: str, run: str, told: Plain) -> None:
        """Perform one move; what stops it is written down as the run's end, in words."""
        with self._store.read() as session:
            found = _found(session, org, repo, run)
            facts = facts_of(session, self._blobs, found)
        try:
            self._performer.perform(found, facts, _move(told))
        except AsbuiltError as error:
            reason = f"{error.what} Why: {error.why} Next: {error.next_step}"
            with self._store.write() as session:
                say(
                    session, found, "run.ended", "ended",
                    state="failed", reason=reason[:_MAX_REASON], code=error.exit_code,
                )  # fmt: skip

    def _ask(self, org: str, repo: str, run: str, told: Plain) -> None:
        with self._store.write() as session:
            found = _found(session, org, repo, run)
            wish = approvals.Wish(run, told["kind"], told["question"], told["phase"])
            approvals.ask(session, found.address, key=told["key"], wish=wish, actor=ACTOR)
        self._calling.call(found, f"{told['key']}/asked")

    def _wait(self, org: str, repo: str, run: str, n: int, told: Plain) -> None:
        with self._store.write() as session:
            found = _found(session, org, repo, run)
            due = told["until"] or runs.FAR
            next_one = runs.Segment(org, repo, run, n + 1, due, told["why"])
            runs.plan_segment(session, next_one)
            runs.close_segment(session, next_one._replace(n=n))
            runs.set_state(session, found, "waiting")
            say(session, found, "run.parked", f"parked/{n}", why=told["why"], until=told["until"])
            # An answer that came between the decision and this moment would otherwise wait for ever.
            if told["until"] is None and not _unanswered(facts_of(session, self._blobs, found)):
                runs.wake(session, org, repo, run)
        self._calling.call(found, f"{run}/parked/{n}")

    def _end(self, org: str, repo: str, run: str, n: int, told: Plain) -> None:
        """Write the last account of a run and let go of its plan."""
        state, reason = told["state"], told["reason"][:_MAX_REASON]
        with self._store.read() as session:
            found = _found(session, org, repo, run)
            facts, now = facts_of(session, self._blobs, found), session.now
        if facts.ended is None:
            facts.ended, facts.reason = state, reason
        report = self._performer.report(found, facts, now)
        with self._store.write() as session:
            say(session, found, "report.written", "report/end", report=report)
            say(session, found, "run.ended", "ended", state=state, reason=reason)
            runs.set_state(session, found, state)
            claims.release(session, found.address, run=run, actor=ACTOR)
            runs.close_segment(session, runs.Segment(org, repo, run, n, "", ""))
        self._calling.call(found, f"{run}/ended")


def _found(session: Session, org: str, repo: str, run: str) -> Run:
    found = runs.find(session, org, repo, run)
    if found is None:
        raise LookupError(run)
    return found


def _unanswered(facts: RunFacts) -> bool:
    return any(answer is None for answer in facts.approvals.values())


_MOVES: Final[dict[str, Callable[..., phases.Move]]] = {
    kind.__name__: kind
    for kind in (
        phases.Start, phases.ResolveTests, phases.MakeWorkspace, phases.SetUp, phases.Baseline,
        phases.Begin, phases.Attempt, phases.Keep, phases.Check, phases.Verify, phases.Commit, phases.Ask,
        phases.ProveTogether, phases.Report, phases.Land, phases.Mark, phases.Tidy, phases.Wait, phases.End,
    )
}  # fmt: skip


def _move(told: Plain) -> phases.Move:
    """Read a move back from what the engine remembers; JSON has no tuples."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in told.items()
        if name != "move"
    }
    return _MOVES[told["move"]](**fields)
