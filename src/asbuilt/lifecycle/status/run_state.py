"""Progress of a run and what it waits for, derived from its next move. Pure; nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, assert_never

from msgspec.structs import replace

from asbuilt.events.runs import RunParked, WaitReason, end_words, reason_words
from asbuilt.lifecycle.authoring.facts import AuthoringFacts
from asbuilt.lifecycle.delivery.facts import DeliveryFacts
from asbuilt.lifecycle.kinds import Facts, next_move
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import WHOLE, PhaseFacts
from asbuilt.lifecycle.run.moves import Move
from asbuilt.lifecycle.status.plan_state import Standing, done_now
from asbuilt.plan.needs import open_needs

State = Literal[
    "pending", "ready", "planning", "implementing", "fixing", "checking", "verifying", "parked", "paused",
    "proven", "landed", "done", "failed", "stopped",
]  # fmt: skip
Waiting = Literal[
    "agent", "verifier", "asbuilt", "person", "conversation", "resume", "limit", "time", "line", "nobody"
]  # fmt: skip
PROVEN: Final = ("proven", "landed")
"""States of a phase that asbuilt has proven."""
DONE: Final = (*PROVEN, "done")
"""States in which a phase needs no more work."""
NEXT: Final = ("ready", "failed", "stopped")
"""States from which a run starts a phase, the first in the plan's order."""
_WORKING: Final[dict[str, State]] = {
    "implement": "implementing", "fix": "fixing", "plan": "planning", "critique": "planning"
}  # fmt: skip
_NO_SIGN_OFFS: Final[Mapping[str, int]] = {}
_WORKS: Final = ("agent", "verifier", "asbuilt")
"""Whom a run waits for while it works."""
IN_WORK: Final = ("planning", "implementing", "fixing", "checking", "verifying", "parked", "paused")


EDITED: Final = "its text was changed in the plan during the run, and the new text was built"
NEEDS_NEWER: Final = "a newer asbuilt: a newer version started this run, and only such a version continues it"


class PhaseProgress(NamedTuple):
    """Progress of a phase."""

    id: str
    title: str
    state: State
    since: str
    """When this state started; empty if unknown."""
    commit: str | None = None
    attempt: int | None = None
    """The current attempt, or the last one."""
    cycle: int = 0
    needs: tuple[str, ...] = ()
    """Needed phases that are not done."""
    needs_all: tuple[str, ...] = ()
    """All needed phases, done or not."""
    sign_offs: int = 0
    """Of a phase that is proven and not landed: number of its changes that need a sign-off."""
    is_edited: bool = False
    """Its text in the plan was changed while the run worked on earlier phases."""


class WaitsFor(NamedTuple):
    """What a run waits for: for whom, since when, until when."""

    kind: Waiting
    phase: str | None = None
    since: str = ""
    until: str | None = None
    why: str = ""
    is_unexplained: bool = False
    """The user stopped or paused it, and gave no reason: `why` has general words."""
    pauses: bool = False
    """It pauses after the current attempt."""
    attempt: str | None = None
    """The attempt whose agent or verifier it waits for: `2`, `2v`."""
    retries: int = 0
    """Number of restarts of the agent's work in this phase."""
    next_step: str = ""
    """Advice of the reason of its end."""
    other: str = ""
    """An alternative to that advice."""
    setup: str = ""
    """The command of the setup that has started on a clean checkout, before the draft's checks."""

    @property
    def given_reason(self) -> str:
        """Return the reason of a stop or a pause; empty if the user gave none."""
        return "" if self.is_unexplained else self.why

    @property
    def where(self) -> str:
        """Return what is worked on."""
        return "all phases together" if self.phase == WHOLE else f"phase {self.phase}"


def progress(facts: Facts, now: str) -> list[PhaseProgress]:
    """Return the progress of every phase of the plan in this run."""
    proven = {phase.id for phase in facts.phases.values() if phase.proven} | facts.done_before
    found = {} if facts.current is None else {facts.current.id: _move(facts, now)}
    for lane in facts.lanes if isinstance(facts, PlanFacts) else ():
        found[lane] = _move(replace(facts, at=lane), now)
    return [_of_phase(facts, phase, found.get(phase.id), proven) for phase in facts.phases.values()]


def _move(facts: Facts, now: str) -> moves.Move:
    """Return the next move; a wait for an agent's account is recorded, and no fact of the run itself."""
    wait = facts.chain.wait
    if facts.pause is None and facts.stop is None and isinstance(wait, RunParked):
        is_account = wait.reason in (WaitReason.LIMIT, WaitReason.OVERLOAD)
        if is_account and (wait.until is None or wait.until > now):
            return moves.Wait(wait.reason, wait.why, wait.until)
    return next_move(facts, now)


def lanes_wait_for(facts: Facts, now: str) -> list[WaitsFor]:
    """Return what each open lane waits for."""
    lanes = facts.open_lanes if isinstance(facts, PlanFacts) and not facts.at else []
    return [waits_for(replace(facts, at=lane), now) for lane in lanes]


def waits_for(facts: Facts, now: str) -> WaitsFor:
    """Return what the run waits for."""
    move = _move(facts, now)
    phase = facts.current
    last = phase.attempts[-1] if phase is not None and phase.attempts else None
    match move:
        case moves.End(reason=why, next_step=following, other=other):
            following, other = (facts.next_step, facts.other) if facts.next_step else (following, other)
            given = facts.reason or why
            why = end_words(facts.ended or move.state, given)
            return WaitsFor("nobody", why=why, is_unexplained=not given, next_step=following, other=other)
        case moves.Wait(reason=WaitReason.LANES):
            lanes = lanes_wait_for(facts, now)
            return next((wait for wait in lanes if wait.kind in _WORKS), lanes[0])
        case moves.Wait(reason=WaitReason.PAUSE):
            why, is_bare = reason_words(facts.pause or ""), not facts.pause
            name = phase.id if phase else None
            return WaitsFor("resume", name, facts.pause_at, why=why, is_unexplained=is_bare)
        case moves.Wait(reason=WaitReason.CONVERSATION, why=why):
            return WaitsFor("conversation", phase.id if phase else None, facts.chain.parked_at, why=why)
        case moves.Wait(reason=WaitReason.LANDING, why=why):
            return WaitsFor("line", None, facts.chain.parked_at, why=why)
        case moves.Wait(reason=reason, why=why, until=until):
            is_limit = reason is WaitReason.LIMIT
            is_ours = until is None and reason not in (WaitReason.PLAN, WaitReason.LIMIT)
            kind: Waiting = "person" if is_ours else "limit" if is_limit else "time"
            return WaitsFor(kind, phase.id if phase else None, facts.chain.parked_at, until, why)
        case moves.Attempt(phase=name, number=number):
            # An attempt that has not started has no start time.
            since = last.began_at if last and last.number == number else ""
            pauses = facts.pause is not None
            then = "then it pauses" if pauses else ""
            again = phase.repeats if phase else 0
            return WaitsFor("agent", name, since, why=then, pauses=pauses, attempt=str(number), retries=again)
        case moves.VerifyTogether():
            lost = facts.whole.lost_verifiers if isinstance(facts, PlanFacts) else 0
            return WaitsFor("verifier", WHOLE, attempt=f"1v{lost + 1 if lost else ''}")
        case moves.Verify(phase=name, number=number, role=role):
            lost = last.lost_verifiers if last else 0
            judge = f"{number}{role[0]}{lost + 1 if lost else ''}"
            return WaitsFor("verifier", name, last.ended_at if last else "", attempt=judge)
        case _:
            named = facts.phases.get(getattr(move, "phase", None) or "", phase)
            setup = facts.draft.setup if isinstance(facts, AuthoringFacts) else ""
            return WaitsFor("asbuilt", named.id if named else None, why=type(move).__name__, setup=setup)


def plan_progress(
    run: Sequence[PhaseProgress],
    standing: Standing,
    proven_at: Mapping[str, str],
    *,
    is_over: bool,
    marked: Iterable[str] | None = None,
    sign_offs: Mapping[str, int] = _NO_SIGN_OFFS,
) -> list[PhaseProgress]:
    """Return the progress of every phase over all runs of the plan.

    `run` is the newest run's progress; while that run is active, its state of phases in work wins.
    `proven_at` is the time of proof of each commit, `sign_offs` the number that it needs. `marked` are the
    phases that the plan's file marks as done; None: the file is unknown, so the journal's last marks count.
    """
    if marked is None:
        by_hand = dict(standing.by_hand)
        marked = [phase.id for phase in run if by_hand.get(phase.id, phase.state == "done")]
    done = done_now(standing, marked)
    landed_as = {
        landed.commit: landed.landed_as for landing in standing.landings for landed in landing.landed
    }
    last = {work.phase: work.commit for work in standing.proven if work.commit not in standing.undone}
    rows: list[PhaseProgress] = []
    for phase in run:
        commit = last.get(phase.id)
        needs = open_needs(phase.needs_all, done)
        if phase.state in IN_WORK and not is_over:
            rows.append(phase)
        elif phase.id in done and commit is not None:
            state: State = "landed" if commit in landed_as else "proven"
            at, asks = proven_at.get(commit, ""), 0 if commit in landed_as else sign_offs.get(commit, 0)
            done_phase = phase._replace(state=state, since=at, commit=landed_as.get(commit, commit), needs=())
            rows.append(done_phase._replace(sign_offs=asks))
        elif phase.id in done:
            rows.append(_bare(phase)._replace(state="done"))
        elif phase.state in ("failed", "stopped"):
            rows.append(phase)
        else:
            rows.append(_bare(phase)._replace(state="pending" if needs else "ready", needs=needs))
    return rows


def _bare(phase: PhaseProgress) -> PhaseProgress:
    bare = PhaseProgress(phase.id, phase.title, "ready", "", needs_all=phase.needs_all)
    return bare._replace(is_edited=phase.is_edited)


def _of_phase(
    facts: Facts, phase: PhaseFacts, move: Move | None, proven: set[str] | frozenset[str]
) -> PhaseProgress:
    needs = open_needs(phase.needs, proven)
    last = phase.attempts[-1] if phase.attempts else None
    about = PhaseProgress(phase.id, phase.title, "pending", "", needs=needs, needs_all=phase.needs)
    landed = facts.landed if isinstance(facts, DeliveryFacts) else ()
    landed_as = {landed_phase.phase: landed_phase.landed_as for landed_phase in landed}.get(phase.id)
    about = about._replace(is_edited=phase.is_edited)
    if landed_as is not None:
        return about._replace(state="landed", since=phase.proven_at, commit=landed_as)
    if phase.proven is not None:
        shown = about._replace(state="proven", since=phase.proven_at, commit=phase.proven)
        return shown._replace(sign_offs=phase.sign_offs)
    if phase.id in facts.done_before:
        return about._replace(state="done")
    if move is None or not phase.begun:
        return about if needs else about._replace(state="ready")
    since = phase.begun_at
    if last is not None:
        since = last.ended_at or last.began_at
    number = last.number if last else None
    return about._replace(state=_state(move), since=since, attempt=number, cycle=phase.fixes)


def _state(move: Move) -> State:
    match move:
        case moves.Attempt(role=role):
            return _WORKING[role]
        case moves.Keep() | moves.Judge() | moves.Check() | moves.Commit() | moves.MergePhase():
            return "checking"
        case moves.Join(state=state):
            return "checking" if state == "ready" else state
        case moves.Verify():
            return "verifying"
        case moves.Wait(reason=WaitReason.PAUSE):
            return "paused"
        case moves.Wait() | moves.Ask():
            return "parked"
        case moves.End(state=state):
            return "stopped" if state == "stopped" else "failed"
        case (
            moves.Start() | moves.ResolveTests() | moves.MakeWorkspace() | moves.SetUp()
            | moves.Baseline() | moves.Begin() | moves.Compare() | moves.ProveTogether()
            | moves.VerifyTogether() | moves.Report() | moves.Land() | moves.Mark() | moves.Tidy()
            | moves.Delegate() | moves.ProveDelegated() | moves.Fork()
            | moves.Recheck() | moves.Draft() | moves.File() | moves.Post() | moves.Look() | moves.Push()
            | moves.Propose() | moves.Mend() | moves.Merge() | moves.CloseIssues() | moves.CheckInvariants()
        ):  # fmt: skip
            return "ready"
        case _:
            assert_never(move)
