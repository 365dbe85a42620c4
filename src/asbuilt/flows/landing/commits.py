"""From a proven tree to a landed commit and a marked plan. Every step is idempotent.

Runs land on a branch in line. Rule: the event that ends a landing gives the turn to the next run in the same
transaction. The second run in line polls for up to 10 s, to land without a pause.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from asbuilt.errors import GateStopped
from asbuilt.events.event import Event
from asbuilt.events.landings import LandingDone, LandingQueued, LandingRefused, LandingUndone
from asbuilt.events.phases import PhaseProven
from asbuilt.events.plans import PlanCompleted, PlanMarked
from asbuilt.flows.checks.change_inspection import kept_remarks
from asbuilt.flows.checks.prove import Proving, tree_of
from asbuilt.flows.landing.candidates import Picks, Reverts, commits_on, completion, reopens
from asbuilt.flows.landing.move import Changeset, Mover
from asbuilt.flows.run.approval import approvers, carry, waived_in, waived_items
from asbuilt.flows.run.drift import corrected_in, keep_corrections
from asbuilt.flows.run.marks import marked, reopened
from asbuilt.flows.run.plan_file import Document
from asbuilt.flows.run.record import ACTOR, Record, append_event
from asbuilt.git import commits, locks
from asbuilt.git.repository import Repository, plan_branch, tip
from asbuilt.git.workspace import snapshots, workspaces
from asbuilt.journal import approvals
from asbuilt.journal.queues import landing_queue
from asbuilt.lifecycle.delivery.facts import DeliveryFacts, Work
from asbuilt.lifecycle.run.facts import AttemptFacts, PhaseFacts
from asbuilt.lifecycle.undo import UndoFacts
from asbuilt.ports import Kept, Workspace
from asbuilt.proof.excuses import gaps_in
from asbuilt.proof.remarks import for_a_person

UNDONE: Final = "refs/asbuilt/undone/"
"""Refs of work that was proven and given up without landing."""
_NEAR_S: Final = 10.0
_POLL_S: Final = 0.05


class Outcomes:
    """The commits, landing and marks of one run."""

    def __init__(self, record: Record, repository: Repository, proving: Proving, room: Path) -> None:
        self._record = record
        self._run = record.run
        self._repository = repository
        self._proving = proving
        self._room = room
        self._document = Document(record, repository)

    def commit(self, facts: DeliveryFacts, workspace: Workspace, phase_id: str, number: int) -> None:
        """Make the outcome commit and advance the plan's branch; reset the workspace to that commit."""
        attempt = attempt_of(facts.phases[phase_id], number)
        frozen, _ = self._record.frozen(phase_id)
        waived = waived_items(self._record, frozen, attempt)
        message = commits.message_for(
            frozen.title,
            Asbuilt_Run=self._run.run,
            Asbuilt_Phase=phase_id,
            Asbuilt_Approved_By=approvers(self._record, phase_id),
            Asbuilt_Waived=[f"{waiver.text}: {waiver.reason}" for waiver in waived],
        )
        commit = commits.commit_tree(
            self._repository,
            attempt.tree or "",
            parents=(facts.base_now,),
            author=self._record.author(),
            message=message,
        )
        old = facts.works[-1].commit if facts.works else facts.branch_at
        self._record.hold()
        commits.advance(
            self._repository, plan_branch(self._repository, self._run.options.slug), new=commit, old=old
        )
        if not is_ahead(workspace, facts):
            workspaces.reset_to(self._repository, workspace, commit, kept=self._kept(phase_id, attempt))
        wanted = for_a_person(kept_remarks(self._record, attempt.remarks))
        proven = PhaseProven(
            phase=phase_id,
            commit=commit,
            waived=self._record.blobs.put_json(waived) if waived else None,
            corrected=keep_corrections(self._record, frozen, attempt),
            remarks=attempt.remarks if wanted else None,
            sign_offs=len(wanted),
        )
        # Questions of earlier runs are about other work on this phase.
        self._record.end_work(proven, f"{phase_id}/proven", (phase_id,))

    def go_on(self, facts: DeliveryFacts, workspace: Workspace) -> None:
        """Reset the workspace to the base of the next phase: after a direct landing, the target's new tip."""
        if facts.way != "direct" or facts.landing.tip is None or is_ahead(workspace, facts):
            return
        # No agent works on a delegated phase.
        worked = [facts.phases[work.phase] for work in facts.works if facts.phases[work.phase].attempts]
        if worked:
            kept = self._kept(worked[-1].id, worked[-1].attempts[-1])
        else:
            base = facts.base or ""
            ref = f"refs/heads/{plan_branch(self._repository, self._run.options.slug)}"
            kept = Kept(commit=base, tree=tree_of(self._repository, base), ref=ref, ignored=())
        workspaces.reset_to(self._repository, workspace, facts.base_now, kept=kept)

    def land(self, facts: DeliveryFacts) -> None:
        """Move proven commits to the target branch, with the plan's marks if they can be committed.

        Only the first in line for the branch does; other runs record their place and wait. A landing that was
        cut off is finished first, out of turn.
        """
        if not facts.is_landing and not take_turn(self._record):
            return
        outside = (self._record, self._repository, self._proving, self._document)
        is_undo = isinstance(facts, UndoFacts)
        changeset: Changeset = (
            Reverts(*outside, facts) if isinstance(facts, UndoFacts) else Picks(*outside, facts)
        )
        options = self._run.options
        mover = Mover(
            repository=self._repository,
            run=self._run.run,
            branch=options.branch,
            room=self._room,
            append=partial(append_in_turn, self._record, facts.pending),
            hold=self._record.hold,
            reverts=is_undo,
            shared=self._record.shared,
        )
        mover.land(
            changeset,
            cut_off=facts.landing.intent if facts.is_landing else None,
            sign=options.signs_if_configured and commits.signs(self._repository),
            again=f"asbuilt land {options.slug}" + (" --undo" if is_undo else ""),
        )

    def mark(self, facts: DeliveryFacts) -> None:
        """Write marks that were not committed to the plan file, and record whether the plan is completed."""
        self._record.hold()
        if isinstance(facts, UndoFacts):
            self._undo(facts)
        else:
            landed = {landed_phase.phase: landed_phase.landed_as for landed_phase in facts.landed}
            completed = completion(self._record, facts)
            corrected = corrected_in(self._record, facts.landed)
            carry(self._record, landed, corrected)
            if not facts.marks_landed:
                waived = waived_in(self._record, facts.landed)
                self._document.splice(
                    lambda data: marked(data, landed, completed=completed, waived=waived, corrected=corrected)
                )
            if completed is not None:
                self._record.append(PlanCompleted(gaps=tuple(self._gaps(facts))), "completed")
        self._record.append(PlanMarked(), f"marked/{(facts.landing.tip or '')[:12]}")

    def _undo(self, facts: UndoFacts) -> None:
        if not facts.marks_landed:
            self._document.splice(lambda data: reopened(data, reopens(facts)))
        kept = self._drop(facts) if facts.drops else ""
        gone = [*(landed.commit for landed in facts.undoes), *(work.commit for work in facts.drops)]
        details = self._record.blobs.put_json({"commits": gone})
        at = facts.landing.tip
        ours = commits_on(self._repository, facts, at) if at else {}
        found = not facts.undoes or any(landed.landed_as in ours for landed in facts.undoes)
        undone = LandingUndone(
            of=facts.of, reverted=bool(facts.undoes), found=found, kept=kept, details=details
        )
        phases = [landed.phase for landed in facts.undoes] + [work.phase for work in facts.drops]
        self._record.end_work(undone, "undone", phases)

    def _drop(self, facts: UndoFacts) -> str:
        """Drop proven work from the plan's branch, after keeping it under a ref; return the ref."""
        branch = f"refs/heads/{plan_branch(self._repository, self._run.options.slug)}"
        last = facts.drops[-1].commit
        keep = f"{UNDONE}{self._run.run}"
        if tip(self._repository, branch) != last:
            # Dropped before a crash, or by the user.
            return keep if tip(self._repository, keep) == last else ""
        if tip(self._repository, keep) is None:
            locks.set_ref(self._repository, keep, new=last, old=None)
        locks.drop_ref(self._repository, branch, old=last)
        return keep

    def _gaps(self, facts: DeliveryFacts) -> list[str]:
        """List phrases that suggest that a phase of this run was called done but is not."""
        gaps: list[str] = []
        for work in (*facts.unlanded, *facts.works):
            _, text = self._record.frozen(work.phase, run=work.run)
            gaps += [f"phase {work.phase} says “{phrase}”" for phrase in gaps_in(text)]
        for work in facts.works:
            says = " ".join(attempt.says for attempt in facts.phases[work.phase].attempts)
            gaps += [f"an agent of phase {work.phase} said “{phrase}”" for phrase in gaps_in(says)]
        return gaps[:10]

    def _kept(self, phase_id: str, attempt: AttemptFacts) -> Kept:
        ref = f"{snapshots.ATTEMPTS}{self._run.run}.{phase_id}.{attempt.number}"
        return Kept(commit=attempt.commit or "", tree=attempt.tree or "", ref=ref, ignored=())


def is_ahead(workspace: Workspace, facts: DeliveryFacts) -> bool:
    """Return whether the workspace has files of an attempt that a restored journal does not know."""
    lent = workspaces.lent_to(workspace)
    known = (
        f"{facts.run}.{phase.id}.{attempt.number}"
        for phase in (*facts.phases.values(), *facts.repairs.values())
        for attempt in phase.attempts
    )
    return lent is not None and lent not in known


def take(record: Record, workspace: Workspace, facts: DeliveryFacts, attempt: str) -> None:
    """Assign the workspace to an attempt, before its agent starts."""
    lent = workspaces.lent_to(workspace)
    if lent != attempt and is_ahead(workspace, facts):
        raise GateStopped(
            f"{workspace.path} has files of {lent}, which the journal does not know",
            why="The journal was restored from a backup, and this attempt would start with newer files. "
            "Copy what you need first.",
            next_step=f"`asbuilt run {record.run.options.slug}`",
        )
    workspaces.lend(workspace, attempt)


def attempt_of(phase: PhaseFacts, number: int) -> AttemptFacts:
    """Return an attempt by its number."""
    return next(attempt for attempt in phase.attempts if attempt.number == number)


def take_turn(record: Record) -> bool:
    """Return whether the run is first in line for its branch; if not, record its place."""
    run, until = record.run, time.monotonic() + _NEAR_S
    with record.store.write() as session:
        ahead = landing_queue.join(session, run, is_urgent=run.options.front is True)
    while len(ahead) == 1 and time.monotonic() < until:
        time.sleep(_POLL_S)
        with record.store.read() as session:
            ahead = landing_queue.ahead_of(session, run)
    if not ahead:
        return True
    with record.store.write() as session:
        # The run ahead may have left since, and its turn would be lost.
        ahead = landing_queue.join(session, run)
        if ahead:
            queued = LandingQueued(branch=run.options.branch, ahead=len(ahead), behind=ahead[-1])
            append_event(session, run, queued, f"queued/{session.now}")
    return not ahead


def append_in_turn(record: Record, works: Iterable[Work], event: Event, key: str) -> None:
    """Write an event of a run that lands: the end of its landing is the end of its turn.

    Open questions about `works` are withdrawn once they have landed.
    """
    with record.store.write() as session:
        if isinstance(event, LandingDone | LandingRefused):
            landing_queue.leave(session, record.run)
        append_event(session, record.run, event, key)
        if isinstance(event, LandingDone) and not event.reverts:
            phases = [work.phase for work in works]
            approvals.withdraw_about(session, record.run.address, phases, actor=ACTOR)
