"""Perform a run: decide and act until it ends or waits. Results are recorded, so a replay repeats none."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from asbuilt.errors import AsbuiltError, CommandStopped, FileDenied
from asbuilt.events.phases import PhaseForked, PhaseJoined
from asbuilt.events.runs import ReportWritten, RunParked, RunTakenOver, TroubleMet, WaitReason
from asbuilt.flows.engine import dbos
from asbuilt.flows.engine.dbos import Steps
from asbuilt.flows.engine.fence import Fenced, Signals, Superseded
from asbuilt.flows.engine.transient import retry_at, transient_error, words_of
from asbuilt.flows.notify import NO_REACH, Calling, Reach
from asbuilt.flows.recorded_moves import Plain, comes_next, read_move, recorded, still_waits
from asbuilt.flows.run.agent_accounts import choose, may_start
from asbuilt.flows.run.record import ACTOR, append_event
from asbuilt.flows.run_end import MAX_REASON, Advice, end, refused
from asbuilt.flows.schedule import clear
from asbuilt.journal import approvals, runs
from asbuilt.journal.database.store import Session, Store
from asbuilt.journal.engine import segments
from asbuilt.journal.events import append, hold, keyed, whole_history
from asbuilt.journal.home import Home
from asbuilt.journal.ids import LOCAL, Segment
from asbuilt.journal.queries.facts_cache import Folds
from asbuilt.journal.queues import account_breakers, landing_queue
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.kinds import Facts, fold
from asbuilt.lifecycle.limits import TRANSIENT_LIMIT
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.proving import ProvingFacts
from asbuilt.lifecycle.run.retry_times import again_at

if TYPE_CHECKING:
    from asbuilt.flows.engine.lease import Lease
    from asbuilt.flows.telemetry import Collector
    from asbuilt.journal.blobs import Blobs

_NOTHING_OPEN: Final = ("done", "held", "landed", "undone")
"""Endings after which no workspace is needed; a failed or stopped run keeps its own for the user."""


class Performing(Protocol):
    """Performs the moves of runs."""

    home: Home
    signals: Signals

    def perform(self, run: Run, facts: Facts, move: moves.Move, fenced: Fenced) -> None:
        """Perform one move. Idempotent: a move that was cut off is performed again."""

    def report(self, run: Run, facts: ProvingFacts, now: str = "") -> str:
        """Write the report of a run and return its digest."""

    def remove_workspaces(self, run: Run) -> None:
        """Remove the workspaces that finished runs of a plan left, each only if nothing is lost."""


@dataclass
class Execution:
    """One execution of a segment. Its folds are its own, because lanes of one run work in several threads."""

    fenced: Fenced
    folds: Folds
    seen: tuple[Run, Facts, moves.Move] | None = None
    """What this execution decided last, and from what. Another execution may have recorded another move."""

    def read(self, session: Session) -> tuple[Run, Facts]:
        """Return the run and its facts as of now, as seen from the segment's lane."""
        segment = self.fenced.segment
        found = _found(session, segment)
        facts = copy(self.folds.facts(session, found))
        facts.at = segment.lane
        return found, facts


class Runs:
    """The runs of one worker."""

    def __init__(  # noqa: PLR0913 - a worker has these parts
        self,
        store: Store,
        blobs: Blobs,
        performer: Performing,
        reach: Reach = NO_REACH,
        *,
        lease: Lease | None = None,
        step: Steps = dbos.step,
        collector: Collector | None = None,
    ) -> None:
        """Keep the parts; `step` performs an action at least once and stores its result.

        Without a `lease`, this is the only worker of its database.
        """
        self._store = store
        self._lease = lease
        self._step = step
        self._blobs = blobs
        self._performer = performer
        self._calling = Calling(store, reach)
        self._collector = collector

    @property
    def signals(self) -> Signals:
        """Signals for threads that wait for an agent."""
        return self._performer.signals

    def segment(self, org: str, repo: str, run: str, n: int) -> None:
        """Perform a segment until the run ends or the next is planned, or another execution has started."""
        segment = Segment(org, repo, run, n, "", "", self._lease.worker if self._lease else LOCAL)
        fenced = self._begin(segment)
        if fenced is None:
            return
        try:
            self._go_through(fenced, n)
        except Superseded as superseded:
            # A closed segment is finished; anything else must not look finished to the engine.
            if not superseded.is_closed:
                raise

    def _begin(self, segment: Segment) -> Fenced | None:
        """Start an execution of a segment, in place of any earlier one; None if the segment is closed."""
        worker = segment.executor or LOCAL
        with self._store.write() as session:
            self._need_lease(session, segment)
            begun = segments.begin(session, segment, worker=worker)
            if begun is None:
                return None
            found = _found(session, segment)
            if segment.n > 1 and not found.is_over:
                runs.set_state(session, found, "running")
            if begun.before not in (None, worker):
                moved = RunTakenOver(lost=begun.before, by=worker, phase=begun.lane or None)
                append_event(session, found, moved, f"taken/{segment.n}/{begun.token}")
        return Fenced(self._store, segment._replace(lane=begun.lane), begun.token)

    def _need_lease(self, session: Session, segment: Segment) -> None:
        if self._lease is not None and not self._lease.holds(session):
            raise Superseded(segment.workflow, is_closed=False)

    def _go_through(self, fenced: Fenced, n: int) -> None:
        execution = Execution(fenced, Folds(self._blobs))
        # Earlier versions recorded "decide 1" here. Another name ends their segments as upgraded.
        decided: Plain | None = self._step("decide", self._decide, execution)
        turn = 0
        while decided is not None:
            turn, move = turn + 1, read_move(decided)
            name, step = f"{type(move).__name__} {turn}", f"{n}/{turn}"
            decided = self._step(name, self._perform_and_decide, step, execution, move)

    def _perform_and_decide(self, turn: str, execution: Execution, move: moves.Move) -> Plain | None:
        """Perform a decision and return the next one; None after the last one of the segment.

        One step does both, because recording a step costs as much as most moves. A worker that dies after the
        move and before the record repeats the step: the move is no longer the next one and is not performed.
        """
        if self._as_decided(turn, execution, move) and isinstance(move, moves.Wait | moves.End | moves.Join):
            return None
        return self._decide(execution)

    def _decide(self, execution: Execution) -> Plain:
        while True:
            with execution.fenced.read() as session:
                found, facts = execution.read(session)
                move = self._choose(session, found, facts)
            if may_start(execution.fenced, facts, move):
                execution.seen = found, facts, move
                return recorded(move)

    def _as_decided(self, turn: str, execution: Execution, move: moves.Move) -> bool:
        """Perform a decision; return False, to decide again, if another execution made it and it is old.

        Since then a worker may have died with its work done, a user may have answered, or the journal may
        have been restored from a backup while the engine remembers a later decision.
        """
        fenced = execution.fenced
        if execution.seen is not None and execution.seen[2] == move:
            found, facts, _ = execution.seen
        else:
            with fenced.read() as session:
                found, facts = execution.read(session)
                chosen = self._choose(session, found, facts)
            if not comes_next(move, chosen) or not may_start(fenced, facts, move):
                return False
        match move:
            case moves.Wait():
                self._wait(move, execution, found, facts)
            case moves.End():
                self._end(move, fenced, found, facts)
            case moves.Ask():
                self._ask(move, fenced, found)
            case moves.Fork():
                self._fork(move, fenced, found, facts)
            case moves.Join():
                self._join(move, fenced, found)
            case _:
                self._perform(move, turn, fenced, found, facts)
        return True

    def _choose(self, session: Session, found: Run, facts: Facts) -> moves.Move:
        return choose(session, self._performer.home.runs / found.run, found, facts)

    def lost(self, segment: Segment, why: str | None) -> None:
        """Continue after a segment that failed, with the next one; give up after 10 retries.

        The next segment continues from the state in the journal. Without `why`, asbuilt was upgraded: the
        steps of the segment are no longer those that the engine recorded.
        """
        with self._store.write() as session:
            self._need_lease(session, segment)
            segment = segment._replace(lane=segments.lane_of(session, segment))
            found = _found(session, segment)
            hold(session, found.address)
            if found.is_over:
                segments.close(session, segment)
            elif why is None:
                segments.follow(session, segment, due_at=session.now, why="upgraded")
            else:
                # Files outside the journal may be what broke, so this needs none of them.
                facts = fold(segment.run, found.options, whole_history(session, found.address))
                facts.at = segment.lane
                self._retry(session, found, facts, segment, why)
        clear(self._store, self._performer.home, found.address)

    @staticmethod
    def _retry(session: Session, found: Run, facts: Facts, segment: Segment, why: str) -> None:
        errors, lane = facts.chain.transient_errors, segment.lane
        what = f"segment {segment.n} ended early: {why}"[:MAX_REASON]
        times = f"stopped by transient errors {errors + 1} times; last: {what}"
        again = again_at(errors, session.now)
        if errors >= TRANSIENT_LIMIT and lane:
            if segments.close(session, segment):
                _joined(session, found, PhaseJoined(phase=lane, state="failed", reason=times), segment.n)
        elif errors >= TRANSIENT_LIMIT and not _lanes_of(facts):
            if segments.close(session, segment):
                end(session, found, "failed", times)
        elif segments.follow(session, segment, due_at=again, why="trouble"):
            if not lane:
                landing_queue.leave(session, found)
            met = TroubleMet(what=what, retry_at=again, phase=lane or None)
            append_event(session, found, met, f"trouble/{segment.n}/lost")
            _set_waiting(session, found, segment, "waiting")

    def _perform(self, move: moves.Move, turn: str, fenced: Fenced, found: Run, facts: Facts) -> None:
        """Perform one move; record what stops it: a transient error with its retry, or the end of the run.

        What stops a lane, or the merge of a phase while lanes are open, gives up that phase.
        """
        lane = fenced.segment.lane
        phase = lane or (getattr(move, "phase", None) if _lanes_of(facts) else None)
        try:
            self._performer.perform(found, facts, move, fenced)
        except CommandStopped:
            # Nothing was recorded; the next decision ends the run.
            return
        except (AsbuiltError, OSError) as error:
            transient = transient_error(error)
            refusal = error if isinstance(error, AsbuiltError) else FileDenied.of(error)
            if transient is None and refusal is not None and _lanes_of(facts) and phase is None:
                transient = words_of(refusal)
            with fenced.write() as session:
                if transient is not None:
                    again = retry_at(error, facts.chain.transient_errors, session.now)
                    what, following = (part[:MAX_REASON] for part in transient)
                    met = TroubleMet(what=what, next=following, retry_at=again, phase=lane or None)
                    append_event(session, found, met, f"trouble/{turn}")
                elif refusal is not None and phase is not None:
                    reason, following = (part[:MAX_REASON] for part in words_of(refusal))
                    joined = PhaseJoined(
                        phase=phase, state="failed", reason=reason, next=following, code=refusal.exit_code
                    )
                    if lane:
                        segments.close(session, fenced.segment)
                    _joined(session, found, joined, fenced.segment.n)
                elif refusal is not None:
                    append_event(session, found, refused(self._blobs, refusal), "ended")
                else:
                    raise

    def _ask(self, ask: moves.Ask, fenced: Fenced, found: Run) -> None:
        with fenced.write() as session:
            wish = approvals.Wish(found.run, ask.kind, ask.question, ask.phase, ask.intent)
            approvals.ask(session, found.address, key=ask.key, wish=wish, actor=ACTOR)
        self._calling.call(found, f"{ask.key}/asked")

    def _fork(self, fork: moves.Fork, fenced: Fenced, found: Run, facts: Facts) -> None:
        """Open a lane: its event and its first segment are one transaction."""
        again = facts.chains[fork.phase].moves + 1 if fork.phase in facts.chains else 0
        with fenced.write() as session:
            hold(session, found.address)
            key = f"{found.run}/{fork.phase}/forked/{again}"
            if keyed(session, found.address, key) is None:
                forked = PhaseForked(phase=fork.phase, base=fork.base)
                append(session, found.address, forked, key=key, actor=ACTOR, run=found.run)
                segments.fork(session, fenced.segment, fork.phase)

    def _join(self, join: moves.Join, fenced: Fenced, found: Run) -> None:
        """Close a lane and wake the run's own chain, in one transaction."""
        with fenced.closing() as (session, is_open):
            if is_open and segments.close(session, fenced.segment):
                joined = PhaseJoined(
                    phase=join.phase,
                    state=join.state,
                    number=join.number,
                    reason=join.reason[:MAX_REASON],
                    next=join.next_step[:MAX_REASON],
                )
                _joined(session, found, joined, fenced.segment.n)

    def _wait(self, wait: moves.Wait, execution: Execution, found: Run, facts: Facts) -> None:
        """Plan the next segment in place of this one; if this one is closed, that has happened already."""
        fenced, segment = execution.fenced, execution.fenced.segment
        why, until = wait.why, wait.until
        parked = RunParked(reason=wait.reason, why=why, until=until, phase=segment.lane or None)
        key = f"{segment.run}/parked/{segment.n}"
        with fenced.closing() as (session, is_open):
            if is_open:
                # Before the plan's head row is locked; see `landing_queue`. A lane has no place in the queue.
                if wait.reason is not WaitReason.LANDING and not segment.lane:
                    landing_queue.leave(session, found)
                hold(session, found.address)
            is_news = not wait.account or account_breakers.notifies(session, segment.org, wait.account, key)
            if is_open:
                segments.follow(session, segment, due_at=until or runs.FAR, why=why, account=wait.account)
                is_paused = facts.pause is not None if _lanes_of(facts) else wait.reason is WaitReason.PAUSE
                _set_waiting(session, found, segment, "paused" if is_paused else "waiting")
                # Whatever wakes one lane wakes them all; those that wait for the same again report nothing.
                if not (_lanes_of(facts) and facts.chain.wait == parked):
                    append_event(session, found, parked, f"parked/{segment.n}")
                # An answer or a stop since the decision would otherwise wait forever.
                _, now = execution.read(session)
                if not still_waits(self._choose(session, found, now), wait):
                    runs.wake(session, found.org, found.repo, found.run, lane=segment.lane)
        if is_news:
            self._calling.call(found, key)

    def _end(self, ending: moves.End, fenced: Fenced, found: Run, facts: Facts) -> None:
        """Write the last report of a run and release its plan."""
        state, reason = ending.state, ending.reason[:MAX_REASON]
        following, other = ending.next_step[:MAX_REASON], ending.other[:MAX_REASON]
        with self._store.read() as session:
            now = session.now
        if facts.ended is None:
            facts.ended = state
            facts.reason, facts.next_step, facts.other = reason, following, other
        # Authoring has proven nothing, so there is nothing to report.
        report = self._performer.report(found, facts, now) if isinstance(facts, ProvingFacts) else None
        with fenced.closing() as (session, is_open):
            if is_open and segments.close(session, fenced.segment):
                # Before the plan's head row is locked; see `landing_queue`.
                landing_queue.leave(session, found)
                if report is not None:
                    append_event(session, found, ReportWritten(report=report), "report/end")
                is_complete = bool(facts.phases) and facts.done >= facts.phases.keys()
                advice = Advice(following, other)
                end(session, found, state, reason, advice=advice, is_complete=is_complete)
        self._calling.call(found, f"{found.run}/ended")
        if self._collector is not None:
            self._collector.send(self._store, found, state)
        if state in _NOTHING_OPEN:
            self._performer.remove_workspaces(found)
        clear(self._store, self._performer.home, found.address)


def _joined(session: Session, run: Run, event: PhaseJoined, n: int) -> None:
    """Record that a lane is closed, and wake the run's own chain."""
    append_event(session, run, event, f"{event.phase}/joined/{n}")
    runs.wake(session, run.org, run.repo, run.run, lane="")


def _lanes_of(facts: Facts) -> list[str]:
    return facts.open_lanes if isinstance(facts, PlanFacts) else []


def _set_waiting(session: Session, run: Run, segment: Segment, state: str) -> None:
    """Set the state of a run that waits, unless another of its chains works."""
    if not segments.others_work(session, segment):
        runs.set_state(session, run, state)


def _found(session: Session, segment: Segment) -> Run:
    found = runs.find(session, segment.org, segment.repo, segment.run)
    if found is None:
        raise LookupError(segment.run)
    return found
