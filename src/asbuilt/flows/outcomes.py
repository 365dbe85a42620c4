"""From a proven tree to a landed commit and a marked plan. Each is made once, and can be found again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.flows.marking import marked
from asbuilt.flows.moving import Mover
from asbuilt.flows.proving import failures_of, tree_of
from asbuilt.git import commits, snapshots, workspaces
from asbuilt.git.candidates import Candidate, Edit, pick
from asbuilt.git.repository import checkouts, path_state, tip
from asbuilt.library.writing import replace
from asbuilt.plan.source import digest
from asbuilt.ports import Kept

if TYPE_CHECKING:
    from asbuilt.flows.proving import Proving
    from asbuilt.flows.record import Record
    from asbuilt.git.repository import Repository
    from asbuilt.lifecycle.facts import AttemptFacts, PhaseFacts, RunFacts
    from asbuilt.ports import Workspace


class Outcomes:
    """What one run brings to its repository."""

    def __init__(self, record: Record, repository: Repository, proving: Proving, room: Path) -> None:
        self._record = record
        self._run = record.run
        self._repository = repository
        self._proving = proving
        self._room = room

    def commit(self, facts: RunFacts, workspace: Workspace, phase_id: str, number: int) -> None:
        """Make the outcome commit and advance the plan's branch; the workspace goes on from there."""
        base = base_of(facts)
        attempt = attempt_of(facts.phases[phase_id], number)
        frozen, _ = self._record.frozen(phase_id)
        message = commits.message_for(frozen.title, Asbuilt_Run=self._run.run, Asbuilt_Phase=phase_id)
        commit = commits.commit_tree(
            self._repository,
            attempt.tree or "",
            parents=(base,),
            author=self._record.author(),
            message=message,
        )
        branch = f"cp-{self._run.options['slug']}"
        commits.advance(
            self._repository, branch, new=commit, old=tip(self._repository, f"refs/heads/{branch}")
        )
        ref = f"{snapshots.ATTEMPTS}{self._run.run}.{phase_id}.{number}"
        kept = Kept(commit=attempt.commit or "", tree=attempt.tree or "", ref=ref, ignored=())
        workspaces.reset_to(self._repository, workspace, commit, kept=kept)
        self._record.say("phase.proven", f"{phase_id}/proven", phase=phase_id, commit=commit)

    def land(self, facts: RunFacts) -> None:
        """Move what is proven to the target branch, with the plan's marks where they can be committed."""

        def failures_at(commit: str) -> list[str]:
            return failures_of(self._proving.prove(tree_of(self._repository, commit)))

        def edit(candidate: Candidate) -> Edit | None:
            return self._marks(facts, candidate)

        mover = Mover(
            self._repository, run=self._run.run, branch=self._run.options["branch"], room=self._room
        )
        mover.land(
            facts.commits, base=facts.base or "", failures_at=failures_at, edit=edit, say=self._record.say
        )

    def _marks(self, facts: RunFacts, candidate: Candidate) -> Edit | None:
        """Give the marks that land as the last commit, if the plan is tracked and nobody is editing it."""
        if self._plan_state() != "clean":
            return None
        there = self._repository.git.said(
            "cat-file", "blob", f"{candidate.onto}:{self._run.plan}", allowed=(0, 128)
        )
        if there.code:
            return None
        after = marked(there.out, _landed(facts, candidate))
        message = commits.message_for(f"Mark {self._run.plan}", Asbuilt_Run=self._run.run)
        return Edit(files={self._run.plan: after}, message=message, by=self._record.author())

    def mark(self, facts: RunFacts) -> None:
        """Mark a plan that is untracked, or being edited, where it lies; that is never committed."""
        if self._plan_state() in ("dirty", "untracked", "ignored"):
            onto = tip(self._repository, f"refs/heads/{self._run.options['branch']}") or ""
            found = pick(self._repository, onto=onto, commits=facts.commits, run=self._run.run)
            file = Path(self._run.options["checkout"]) / self._run.plan
            before = file.read_bytes()
            after = marked(before, _landed(facts, found)) if isinstance(found, Candidate) else before
            if after != before:
                replace(file, after, expected=digest(before))
        self._record.say("plan.marked", "marked")

    def _plan_state(self) -> str:
        here = Path(self._run.options["checkout"]).resolve()
        checkout = next((one for one in checkouts(self._repository) if one.path.resolve() == here), None)
        return "missing" if checkout is None else path_state(checkout, self._run.plan)


def _landed(facts: RunFacts, candidate: Candidate) -> dict[str, str]:
    """Name the commit that stands for each phase on the target."""
    stands = dict((*candidate.commits, *candidate.present))
    return {
        phase.id: stands[phase.proven]
        for phase in facts.phases.values()
        if phase.proven is not None and phase.proven in stands
    }


def base_of(facts: RunFacts) -> str:
    """Return what the next phase builds on: the last one that was proven, else where the run began."""
    return facts.commits[-1] if facts.commits else facts.base or ""


def attempt_of(phase: PhaseFacts, number: int) -> AttemptFacts:
    """Return an attempt by its number."""
    return next(attempt for attempt in phase.attempts if attempt.number == number)
