"""Work on phases side by side: open lanes, close them, and merge their phases one after the other. Pure.

Rule: only the run's own chain merges. A phase is merged onto the tip of the plan's branch, in the order in
which the phases became ready; a merge that conflicts or fails its checks goes back to a lane on that tip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.run.facts import MERGE, PASS
from asbuilt.lifecycle.run.moves import Check, Commit, End, Fork, Join, MergePhase, Move, Wait

if TYPE_CHECKING:
    from asbuilt.lifecycle.plan_run.facts import PlanFacts

_SEVERAL: Final = 2


def coordinate(facts: PlanFacts) -> Move | None:
    """Choose the next move of a run with lanes; None if the run works on its next phase itself.

    After a phase was given up, no lane is opened: the others are finished and merged, then the run ends.
    """
    opened, lost = facts.open_lanes, facts.given_up
    has_room = lost is None and len(opened) < facts.lane_limit
    for name in facts.ready:
        move = _merge(facts, name)
        if has_room or not isinstance(move, Fork):
            return move
    phases = facts.forkable
    begun = facts.current is not None and facts.current.begun
    if has_room and not begun and phases and (opened or len(phases) >= _SEVERAL):
        return Fork(phases[0].id, facts.base_now)
    if opened:
        return wait_for(opened)
    return None if lost is None else End(lost.state, lost.reason, lost.next)


def will_fork(facts: PlanFacts) -> bool:
    """Return whether the next phases are worked on in lanes, not in the run's own workspace."""
    return not facts.at and isinstance(coordinate(facts), Fork)


def wait_for(lanes: list[str]) -> Wait:
    """Wait until one of the lanes is closed."""
    return Wait(WaitReason.LANES, f"phase {' and '.join(lanes)}", None)


def closing(facts: PlanFacts, move: Move) -> Move:
    """Close a lane where a run without lanes would commit its phase, or end."""
    joined = facts.lanes[facts.at].joined
    if joined is not None:
        return Join(facts.at, joined.state, joined.number, joined.reason, joined.next)
    match move:
        case Commit(phase=phase, number=number):
            return Join(phase, "ready", number)
        case End(state=state, reason=reason, next_step=following):
            return Join(facts.at, "stopped" if state == "stopped" else "failed", 0, reason, following)
        case _:
            return move


def _merge(facts: PlanFacts, name: str) -> Move:
    lane, last = facts.lanes[name], facts.phases[name].attempts[-1]
    proven = lane.joined.number if lane.joined is not None else last.number
    if lane.base == facts.base_now:
        return Commit(name, proven)
    if last.role != MERGE or last.number < proven:
        return MergePhase(name, proven, last.number + 1)
    if last.checks is None:
        return Check(name, last.number)
    return Commit(name, last.number) if last.checks == PASS else Fork(name, facts.base_now)
