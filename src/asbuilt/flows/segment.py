"""Perform a run: decide and act until it ends or waits. Results are recorded, so a replay repeats none."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from asbuilt.errors import AsbuiltError, CommandStopped, FileDenied, RingUnavailable
from asbuilt.events.convert import convert_union
from asbuilt.events.runs import (
    JournalBehind,
    ReportWritten,
    RunEnded,
    RunParked,
    RunTakenOver,
    TroubleMet,
    WaitReason,
)
from asbuilt.flows.engine import dbos
from asbuilt.flows.engine.dbos import ENDED_WELL
from asbuilt.flows.engine.fence import Fenced, Superseded
from asbuilt.flows.engine.transient import retry_at, trouble_in, words_of
from asbuilt.flows.notify.enqueue import NOBODY, Calling
from asbuilt.flows.run.record import ACTOR, say
from asbuilt.flows.schedule import clear
from asbuilt.journal import approvals, claims, issues, memory, runs, schedules
from asbuilt.journal.engine import segments
from asbuilt.journal.events import whole_history
from asbuilt.journal.queries.histories import Histories
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.memory import lessons_of_run
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.decide import TROUBLE_LIMIT
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.lifecycle.run.timers import again_at
from asbuilt.lifecycle.schedule.firing import ends_with

if TYPE_CHECKING:
    from asbuilt.flows.engine.dbos import Steps
    from asbuilt.flows.engine.signals import Tidings
    from asbuilt.flows.notify.enqueue import Reach
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session, Store
    from asbuilt.journal.home import Home
    from asbuilt.journal.runs import Run, Segment
    from asbuilt.lifecycle.kinds import Facts

_MAX_REASON: Final = 900

Plain = dict[str, Any]
"""What passes through the engine: only JSON."""
Act = Callable[[Fenced, "Run", "Facts"], None]
"""Carries out one decision."""


class Performing(Protocol):
    """Performs the moves of runs."""

    @property
    def home(self) -> Home:
        """The state folder."""
        ...

    @property
    def tidings(self) -> Tidings:
        """Signals: runs that have to stop, and segments that this worker lost."""
        ...

    def perform(self, run: Run, facts: Facts, move: moves.Move, fenced: Fenced) -> None:
        """Perform one move. Idempotent: a move that was cut off is performed again."""
        ...

    def report(self, run: Run, facts: ProvingFacts, now: str = "") -> str:
        """Write the report of a run and return its digest."""
        ...


class Runs:
    """The runs of one worker."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        performer: Performing,
        reach: Reach = NOBODY,
        *,
        step: Steps = dbos.step,
    ) -> None:
        """Keep the parts; `step` performs an action at least once and stores its result."""
        self._store = store
        self._step = step
        self._blobs = blobs
        self._histories = Histories(blobs)
        self._performer = performer
        self._calling = Calling(store, reach)

    @property
    def tidings(self) -> Tidings:
        """Signals for threads that wait for an agent."""
        return self._performer.tidings

    def segment(self, org: str, repo: str, run: str, n: int) -> None:
        """Perform one segment of a run, until the run ends or the next segment is planned.

        It also ends, and writes nothing more, if another worker has taken over the run.
        """
        fenced = Fenced(self._store, runs.Segment(org, repo, run, n, "", ""))
        with suppress(Superseded):
            self._go_through(fenced, n)

    def _go_through(self, fenced: Fenced, n: int) -> None:
        if n > 1:
            self._step("go on", self._go_on, fenced)
        for turn in count(1):
            move = _move(self._step(f"decide {turn}", self._decide, fenced))
            act = self._act_of(move, f"{n}/{turn}")
            is_done = self._step(f"{type(move).__name__} {turn}", self._as_decided, act, fenced, move)
            if is_done and isinstance(move, moves.Wait | moves.End):
                return

    def _act_of(self, move: moves.Move, turn: str) -> Act:
        match move:
            case moves.Wait():
                return partial(self._wait, move)
            case moves.End():
                return partial(self._end, move)
            case moves.Ask():
                return partial(self._ask, move)
            case _:
                return partial(self._perform, move, turn)

    def _go_on(self, fenced: Fenced) -> None:
        with fenced.write() as session:
            found = _found(session, fenced.segment)
            if found.is_over:
                return
            runs.set_state(session, found, "running")
            before, now = segments.owners(session, fenced.segment)
            if None not in (before, now) and before != now:
                say(session, found, RunTakenOver(lost=before, by=now), f"taken/{fenced.segment.n}")

    def _decide(self, fenced: Fenced) -> Plain:
        with fenced.read() as session:
            found = _found(session, fenced.segment)
            if not segments.is_open(session, fenced.segment, hold=False):
                raise Superseded(fenced.segment.workflow)
            return _recorded(next_move(self._histories.facts_of(session, found), session.now))

    def _as_decided(self, act: Act, fenced: Fenced, move: moves.Move) -> bool:
        """Perform a decision if it still is the next move; else return False, to decide again.

        Since the decision, a worker may have died with its work done, a user may have answered, or the
        journal may have been restored from a backup while the engine remembers a later decision.
        """
        with fenced.read() as session:
            found = _found(session, fenced.segment)
            facts = self._histories.facts_of(session, found)
            if not _comes_next(move, next_move(facts, session.now)):
                return False
        act(fenced, found, facts)
        return True

    def lost(self, segment: Segment, why: str) -> None:
        """Continue after a segment that the engine gave up, with the next one; fail the run after 10 retries.

        The next segment continues from the state in the journal.
        """
        run, n = segment.run, segment.n
        with self._store.write() as session:
            found = _found(session, segment)
            if why == ENDED_WELL and not found.is_over:
                # Only a journal that was restored from a backup has a segment open that the engine has ended.
                if segments.follow(session, segment, due_at=session.now, why="behind"):
                    say(session, found, JournalBehind(), f"behind/{n}")
                return
            # Files outside the journal may be what broke, so this needs none of them.
            troubles = fold(run, found.options, whole_history(session, found.address)).troubles
            what = f"segment {n} broke off: {why}"[:_MAX_REASON]
            again = again_at(troubles, session.now)
            if found.is_over or troubles >= TROUBLE_LIMIT:
                if runs.close_segment(session, segment) and not found.is_over:
                    end(session, found, "failed", f"kept from going on {troubles + 1} times; last: {what}")
            elif segments.follow(session, segment, due_at=again, why="trouble"):
                say(session, found, TroubleMet(what=what, retry_at=again), f"trouble/{n}/lost")
                runs.set_state(session, found, "waiting")
        clear(self._store, self._performer.home, found.address)

    def taken_over(self, segment: Segment) -> None:
        """Plan the next segment after one whose worker is lost; any free worker takes it.

        A lost worker does not count as a transient error of the run.
        """
        with self._store.write() as session:
            found = _found(session, segment)
            if found.is_over:
                runs.close_segment(session, segment)
            else:
                segments.follow(session, segment, due_at=session.now, why="taken over", by="")

    def _perform(self, move: moves.Move, turn: str, fenced: Fenced, found: Run, facts: Facts) -> None:
        """Perform one move; record what stops it: a transient error with its retry, or the end of the run."""
        try:
            self._performer.perform(found, facts, move, fenced)
        except CommandStopped:
            # Nothing was recorded; the next decision ends the run.
            return
        except (AsbuiltError, OSError) as error:
            trouble = trouble_in(error)
            refusal = error if isinstance(error, AsbuiltError) else FileDenied.of(error)
            with fenced.write() as session:
                if trouble is not None:
                    again = retry_at(error, facts.troubles, session.now)
                    what, following = (part[:_MAX_REASON] for part in trouble)
                    met = TroubleMet(what=what, next=following, retry_at=again)
                    say(session, found, met, f"trouble/{turn}")
                elif refusal is not None:
                    say(session, found, _refused(self._blobs, refusal), "ended")
                else:
                    raise

    def _ask(self, ask: moves.Ask, fenced: Fenced, found: Run, _: Facts) -> None:
        with fenced.write() as session:
            wish = approvals.Wish(found.run, ask.kind, ask.question, ask.phase, ask.intent)
            approvals.ask(session, found.address, key=ask.key, wish=wish, actor=ACTOR)
        self._calling.call(found, f"{ask.key}/asked")

    def _wait(self, wait: moves.Wait, fenced: Fenced, found: Run, _: Facts) -> None:
        """Plan the next segment in place of this one; if this one is closed, that has happened already."""
        segment, reason, why, until = fenced.segment, wait.reason, wait.why, wait.until
        with self._store.write() as session:
            if segments.follow(session, segment, due_at=until or runs.FAR, why=why):
                runs.set_state(session, found, "paused" if reason is WaitReason.PAUSE else "waiting")
                say(session, found, RunParked(reason=reason, why=why, until=until), f"parked/{segment.n}")
                # An answer or a stop since the decision would otherwise wait forever.
                facts = self._histories.facts_of(session, _found(session, segment))
                move = next_move(facts, session.now)
                if not _still_waits(move, wait):
                    runs.wake(session, found.org, found.repo, found.run)
        self._calling.call(found, f"{segment.run}/parked/{segment.n}")

    def _end(self, ending: moves.End, fenced: Fenced, found: Run, facts: Facts) -> None:
        """Write the last report of a run and release its plan."""
        state, reason = ending.state, ending.reason[:_MAX_REASON]
        following = ending.next_step[:_MAX_REASON]
        with self._store.read() as session:
            now = session.now
        if facts.ended is None:
            facts.ended = state
            facts.reason, facts.next_step = reason, following
        # Authoring has proven nothing, so there is nothing to report.
        report = self._performer.report(found, facts, now) if isinstance(facts, ProvingFacts) else None
        with self._store.write() as session:
            if runs.close_segment(session, fenced.segment):
                if report is not None:
                    say(session, found, ReportWritten(report=report), "report/end")
                is_complete = bool(facts.phases) and facts.done >= facts.phases.keys()
                end(session, found, state, reason, following=following, is_complete=is_complete)
        self._calling.call(found, f"{found.run}/ended")
        clear(self._store, self._performer.home, found.address)


def end(
    session: Session, run: Run, state: str, reason: str, *, following: str = "", is_complete: bool = False
) -> None:
    """Record that a run is over, store its lessons, and release its plan.

    First its schedule ends, if another run could only end the same way.
    """
    over = ends_with(state, is_complete=is_complete) if run.options.kind == "run" else None
    if over is not None:
        schedules.end(session, run.address, reason=over, actor=ACTOR)
    say(session, run, RunEnded(state=state, reason=reason[:_MAX_REASON], next=following), "ended")
    runs.set_state(session, run, state)
    _learn(session, run)
    if state == "stopped" or (state == "landed" and is_complete):
        issues.release(session, run.address)
    if run.options.kind == "author":
        # Questions of other runs may be answered for the next run; those of an authoring end with it.
        approvals.withdraw(session, run.org, run.repo, run.run, actor=ACTOR)
    claims.release(session, run.address, run=run.run, actor=ACTOR)


def _refused(blobs: Blobs, refusal: AsbuiltError) -> RunEnded:
    reason, following = (part[:_MAX_REASON] for part in words_of(refusal))
    command, output = _not_run(blobs, refusal)
    return RunEnded(
        state="failed", reason=reason, next=following, code=refusal.exit_code, command=command, output=output
    )


def _not_run(blobs: Blobs, error: AsbuiltError) -> tuple[str, str | None]:
    """Report the command for which no sandbox started, and what the sandbox printed."""
    if not isinstance(error, RingUnavailable) or not error.output:
        return "", None
    return shlex.join(error.argv)[:_MAX_REASON], blobs.put(error.output)


def _learn(session: Session, run: Run) -> None:
    entries = whole_history(session, run.address)
    slug = run.options.slug or run.plan
    learnt = lessons_of_run(run.run, slug=slug, plan=run.plan, entries=entries)
    memory.remember(session, run.org, run.repo, learnt, actor=ACTOR)


def _found(session: Session, segment: Segment) -> Run:
    found = runs.find(session, segment.org, segment.repo, segment.run)
    if found is None:
        raise LookupError(segment.run)
    return found


def _recorded(move: moves.Move) -> Plain:
    """Return a move as the engine records it."""
    return {name: _storable(value) for name, value in msgspec.to_builtins(move).items()}


def _storable(value: Any) -> Any:  # noqa: ANN401 - a field of a move
    """Escape what the engine's database refuses as text: a name that is not UTF-8."""
    if isinstance(value, list):
        return [_storable(part) for part in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _move(recorded: Plain) -> moves.Move:
    move: moves.Move = convert_union(recorded, moves.Move)
    return move


def _comes_next(decided: moves.Move, move: moves.Move) -> bool:
    if isinstance(move, moves.End) and isinstance(decided, moves.End):
        # An end that is recorded already has no reason here.
        return move.state == decided.state
    return _recorded(move) == _recorded(decided)


def _still_waits(move: moves.Move, decided: moves.Wait) -> bool:
    pauses = decided.reason is WaitReason.PAUSE
    return isinstance(move, moves.Wait) and (move.reason is WaitReason.PAUSE) == pauses
