"""Merge a ready phase with the phases that were proven since its lane was opened, without a work tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.phases import PhaseMerged
from asbuilt.flows.landing.commits import attempt_of
from asbuilt.git import commits, locks
from asbuilt.git.landing import candidates
from asbuilt.git.repository import tip
from asbuilt.git.workspace.snapshots import ATTEMPTS

if TYPE_CHECKING:
    from asbuilt.flows.context import Context
    from asbuilt.lifecycle.plan_run.facts import PlanFacts
    from asbuilt.lifecycle.run.moves import MergePhase


def merge_phase(context: Context, facts: PlanFacts, move: MergePhase) -> None:
    """Merge a phase onto the tip of the plan's branch, and keep the result as its next attempt."""
    record, repository, onto = context.record, context.repository, facts.base_now
    lane, proven = facts.lanes[move.phase], attempt_of(facts.phases[move.phase], move.of)
    tree, conflicts = candidates.merge_trees(
        repository, base=lane.base, ours=onto, theirs=proven.commit or ""
    )
    name = f"{record.run.run}.{move.phase}.{move.number}"
    commit = commits.commit_tree(
        repository, tree, parents=(onto,), author=record.author(), message=f"Attempt {name}\n".encode()
    )
    record.hold()
    if tip(repository, f"{ATTEMPTS}{name}") is None:
        locks.set_ref(repository, f"{ATTEMPTS}{name}", new=commit, old=None)
    merged = PhaseMerged(
        phase=move.phase,
        number=move.number,
        of=move.of,
        base=onto,
        commit=commit,
        tree=tree,
        conflicts=conflicts,
        failures=_failures(facts, lane.base, conflicts),
    )
    record.say(merged, f"{move.phase}/{move.number}/merged")


def _failures(facts: PlanFacts, base: str, conflicts: tuple[str, ...]) -> tuple[str, ...]:
    """Tell the agent of a conflict which phases are on the other side, and where both sides are."""
    known = [work.commit for work in facts.works]
    since = facts.works[known.index(base) + 1 if base in known else 0 :]
    others = ", ".join(f"phase {work.phase} ({facts.phases[work.phase].title})" for work in since)
    return tuple(
        f"{path}: conflicts with {others}, which is proven. The file has both sides between conflict"
        " markers: keep what both phases need, and remove the markers."
        for path in conflicts
    )
