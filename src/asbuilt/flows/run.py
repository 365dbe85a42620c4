"""A run: decide, perform, until it ends or waits. Every answer is recorded, so a replay repeats none."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final, get_args

from asbuilt.errors import AsbuiltError
from asbuilt.flows.calling import Calling
from asbuilt.flows.engine import step
from asbuilt.flows.record import ACTOR, say
from asbuilt.flows.troubles import trouble_in, words_of
from asbuilt.journal import approvals, claims, runs
from asbuilt.journal.events import whole_history
from asbuilt.journal.histories import Histories
from asbuilt.lifecycle import phases
from asbuilt.lifecycle.folding import fold
from asbuilt.lifecycle.timers import again_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.flows.perform import Performer
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.runs import Run, Segment
    from asbuilt.journal.store import Session, Store
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
        self._told = Histories(blobs)
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
                step(f"{told['move']} {turn}", self._perform, org, repo, run, f"{n}/{turn}", told)

    def _go_on(self, org: str, repo: str, run: str) -> None:
        with self._store.write() as session:
            found = _found(session, org, repo, run)
            if not found.is_over:
                runs.set_state(session, found, "running")

    def _decide(self, org: str, repo: str, run: str) -> Plain:
        with self._store.read() as session:
            found = _found(session, org, repo, run)
            move = phases.next_move(self._told.facts_of(session, found), session.now)
        return {
            "move": type(move).__name__,
            **{name: _plain(value) for name, value in move._asdict().items()},
        }

    def lost(self, segment: Segment, why: str) -> None:
        """Go on after a segment that the engine gave up, with the next one; given up too often, the run ends.

        The journal knows where the run stands, so the next segment goes on there.
        """
        org, repo, run, n = segment.org, segment.repo, segment.run, segment.n
        with self._store.write() as session:
            found = _found(session, org, repo, run)
            if not runs.close_segment(session, segment) or found.is_over:
                return
            # What is kept outside the journal may be what has broken, so nothing of it is needed here.
            told = ((event.kind, event.data) for event in whole_history(session, found.address))
            troubles = fold(run, found.options, told).troubles
            what = f"segment {n} broke off: {why}"[:_MAX_REASON]
            if troubles >= phases.TROUBLE_LIMIT:
                end(session, found, "failed", f"kept from going on {troubles + 1} times; last: {what}")
                return
            retry_at = again_at(troubles, session.now)
            say(session, found, "trouble.met", f"trouble/{n}/lost", what=what, retry_at=retry_at)
            runs.plan_segment(session, runs.Segment(org, repo, run, n + 1, retry_at, "trouble"))
            runs.set_state(session, found, "waiting")

    def _perform(self, org: str, repo: str, run: str, turn: str, told: Plain) -> None:
        """Perform one move; what stops it is written down in words: trouble that may pass, or the end."""
        with self._store.read() as session:
            found = _found(session, org, repo, run)
            facts = self._told.facts_of(session, found)
        try:
            self._performer.perform(found, facts, _move(told))
        except (AsbuiltError, OSError) as error:
            trouble = trouble_in(error)
            with self._store.write() as session:
                if trouble is not None:
                    retry_at = again_at(facts.troubles, session.now)
                    what = trouble[:_MAX_REASON]
                    say(session, found, "trouble.met", f"trouble/{turn}", what=what, retry_at=retry_at)
                elif isinstance(error, AsbuiltError):
                    reason, code = words_of(error)[:_MAX_REASON], error.exit_code
                    say(session, found, "run.ended", "ended", state="failed", reason=reason, code=code)
                else:
                    raise

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
            runs.set_state(session, found, "paused" if told["why"] == phases.PAUSED else "waiting")
            say(session, found, "run.parked", f"parked/{n}", why=told["why"], until=told["until"])
            # What somebody said between the decision and this moment would otherwise wait for ever.
            if not _still_waits(phases.next_move(self._told.facts_of(session, found), session.now), told):
                runs.wake(session, org, repo, run)
        self._calling.call(found, f"{run}/parked/{n}")

    def _end(self, org: str, repo: str, run: str, n: int, told: Plain) -> None:
        """Write the last account of a run and let go of its plan."""
        state, reason = told["state"], told["reason"]
        with self._store.read() as session:
            found = _found(session, org, repo, run)
            facts, now = self._told.facts_of(session, found), session.now
        if facts.ended is None:
            facts.ended, facts.reason = state, reason[:_MAX_REASON]
        report = self._performer.report(found, facts, now)
        with self._store.write() as session:
            say(session, found, "report.written", "report/end", report=report)
            end(session, found, state, reason)
            runs.close_segment(session, runs.Segment(org, repo, run, n, "", ""))
        self._calling.call(found, f"{run}/ended")


def end(session: Session, run: Run, state: str, reason: str) -> None:
    """Write down that a run is over, and let go of its plan."""
    say(session, run, "run.ended", "ended", state=state, reason=reason[:_MAX_REASON])
    runs.set_state(session, run, state)
    claims.release(session, run.address, run=run.run, actor=ACTOR)


def _found(session: Session, org: str, repo: str, run: str) -> Run:
    found = runs.find(session, org, repo, run)
    if found is None:
        raise LookupError(run)
    return found


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field of a move
    """Escape what the engine's database does not take as text: a name that is not UTF-8."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _still_waits(move: phases.Move, told: Plain) -> bool:
    return isinstance(move, phases.Wait) and (move.why == phases.PAUSED) == (told["why"] == phases.PAUSED)


_MOVES: Final[dict[str, Callable[..., phases.Move]]] = {kind.__name__: kind for kind in get_args(phases.Move)}


def _move(told: Plain) -> phases.Move:
    """Read a move back from what the engine remembers; JSON has no tuples."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in told.items()
        if name != "move"
    }
    return _MOVES[told["move"]](**fields)
