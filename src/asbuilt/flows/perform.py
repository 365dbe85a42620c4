"""Perform the moves of a run, each so that it may be performed again: look whether it is done, then do it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from asbuilt.errors import GateStopped, TreeTooLarge
from asbuilt.flows.comparing import compare, plan_of
from asbuilt.flows.outcomes import Outcomes, attempt_of, base_of
from asbuilt.flows.proving import Proving, failures_of, outcome_of, tree_of
from asbuilt.flows.record import Record
from asbuilt.flows.working import Working
from asbuilt.git import commits, snapshots, workspaces
from asbuilt.git.repository import checkouts_of, conflicts, leftover_stashes, open_repository, operations, tip
from asbuilt.journal import claims, runs
from asbuilt.lifecycle import phases
from asbuilt.plan.edit import the_phase
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.home import Home
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Store
    from asbuilt.lifecycle.facts import PhaseFacts, RunFacts
    from asbuilt.ports import Attempts, Processes, Workspace


class Performer:
    """Everything that a run does to the world outside."""

    def __init__(
        self, home: Home, store: Store, blobs: Blobs, attempts: Attempts, processes: Processes
    ) -> None:
        self._home = home
        self._store = store
        self._blobs = blobs
        self._working = Working(attempts)
        self._processes = processes

    def perform(self, run: Run, facts: RunFacts, move: phases.Move) -> None:
        """Perform one move."""
        repository = open_repository(Path(run.options["checkout"]))
        record = Record(run=run, store=self._store, blobs=self._blobs)
        proving = Proving(repository, self._home.path / "checks" / run.run, self._processes, self._blobs)
        outcomes = Outcomes(record, repository, proving, self._home.runs / run.run)
        match move:
            case phases.Start():
                self._start(record, repository)
            case phases.MakeWorkspace():
                self._workspace(run, repository, facts.base or "")
                record.say("workspace.made", "workspace", lane="main")
            case phases.SetUp():
                record.say("setup.done", "setup", outcome="PASS", why="no setup is set")
            case phases.Baseline():
                self._baseline(record, proving, tree_of(repository, facts.base or ""))
            case phases.Begin(phase=phase):
                self._begin(record, phase)
            case phases.Attempt():
                workspace = self._workspace(run, repository, facts.base or "")
                self._working.attempt(record, workspace, facts, move)
            case phases.Keep(phase=phase, number=number):
                self._keep(record, repository, facts, phase, number)
            case phases.Check(phase=phase, number=number):
                self._check(record, proving, facts.phases[phase], number)
            case phases.Verify(phase=phase, number=number):
                tree = attempt_of(facts.phases[phase], number).commit or ""
                workspace = self._workspace(run, repository, tree, f"verify-{phase}-{number}")
                self._working.verify(record, workspace, facts.phases[phase], number)
            case phases.Commit(phase=phase, number=number):
                workspace = self._workspace(run, repository, base_of(facts))
                outcomes.commit(facts, workspace, phase, number)
            case phases.Compare(point=point):
                compare(record, facts, point)
            case phases.ProveTogether():
                self._together(record, proving, tree_of(repository, base_of(facts)))
            case phases.Report():
                self._report(record, facts)
            case phases.Land():
                outcomes.land(facts)
            case phases.Mark():
                outcomes.mark(facts)
            case phases.Ask() | phases.Wait() | phases.End():
                raise ValueError(move)
            case _:
                assert_never(move)

    def _start(self, record: Record, repository: Repository) -> None:
        """Claim the plan, look at the repository, and write down what this run is."""
        run = record.run
        target = f"refs/heads/{run.options['branch']}"
        for checkout in checkouts_of(repository, target):
            found = [*operations(checkout.git_dir), *conflicts(checkout)]
            if found:
                raise GateStopped(
                    f"{checkout.path} is in the middle of something: {', '.join(found[:3])}",
                    why="A run starts from a state that somebody meant.",
                    next_step="Finish or abort it, then run again.",
                )
        if leftover_stashes(repository):
            raise GateStopped(
                "a stash of an interrupted landing is there",
                why="It may hold work that nobody has put back.",
                next_step="Look at `git stash list`, take it back or drop it, then run again.",
            )
        base = tip(repository, target)
        if base is None:
            raise GateStopped(
                f"there is no branch {run.options['branch']}",
                why="Nothing to build on.",
                next_step="Name another.",
            )
        data = plan_of(run)
        plan = read(data)
        author = commits.author_of(repository)
        outline = {
            "phases": {phase.id: list(phase.depends_on.on) for phase in plan.phases},
            "done": [phase.id for phase in plan.phases if phase.status is Status.DONE],
        }
        with self._store.write() as session:
            address = run.address
            taken = claims.acquire(
                session,
                address,
                run=run.run,
                mode=run.options["mode"],
                host=run.options["host"],
                actor="asbuilt",
            )
            if taken.answer is not claims.Answer.YOURS:
                raise GateStopped(
                    f"{run.plan} is held by run {taken.claim.run}",
                    why="One run a plan: two would overwrite each other.",
                    next_step="Stop that run first.",
                )
            runs.set_state(session, run, "running")
        record.say(
            "run.started",
            "started",
            base=base,
            outline=self._blobs.put(json.dumps(outline).encode()),
            revision=self._blobs.put(data),
            intent=plan.intent,
            author=[author.name, author.email, author.at.isoformat()],
        )

    def _workspace(self, run: Run, repository: Repository, commit: str, lane: str = "main") -> Workspace:
        return workspaces.make(repository, self._home.workspaces / run.repo, run.run, lane, commit)

    def _baseline(self, record: Record, proving: Proving, tree: str) -> None:
        tests = record.run.options.get("tests")
        if not tests:
            record.say("baseline.done", "baseline", outcome="PASS", why="this project has no tests")
            return
        shown, counts = proving.baseline(tree, tests)
        kept = self._blobs.put(json.dumps(counts).encode()) if counts else None
        # Failures of the base are noted and do not block; only not knowing does.
        outcome = "PASS" if shown.outcome in ("PASS", "FAIL") else shown.outcome
        record.say("baseline.done", "baseline", outcome=outcome, why=shown.why, counts=kept)

    def _begin(self, record: Record, phase_id: str) -> None:
        data = plan_of(record.run)
        phase = the_phase(read(data), phase_id)
        record.say(
            "phase.begun",
            f"{phase_id}/begun",
            phase=phase_id,
            intent=phase.intent,
            text=self._blobs.put(data),
        )

    def _keep(
        self, record: Record, repository: Repository, facts: RunFacts, phase_id: str, number: int
    ) -> None:
        base = base_of(facts)
        workspace = self._workspace(record.run, repository, base)
        attempt = f"{record.run.run}.{phase_id}.{number}"
        author = record.author()
        try:
            kept = snapshots.keep(repository, workspace, attempt, parent=base, at=author.at)
        except TreeTooLarge as error:
            again = attempt_of(facts.phases[phase_id], number).refusals + 1
            key = f"{phase_id}/{number}/refused/{again}"
            record.say(
                "tree.refused", key, phase=phase_id, number=number, reason=f"{error.what}. {error.next_step}"
            )
            return
        # The plan is ours to mark and the person's to change; an agent's tree brings it as it was.
        kept = workspaces.put_back(
            repository, workspace, record.run.plan, kept=kept, base=base, author=author
        )
        record.say(
            "tree.kept",
            f"{phase_id}/{number}/kept",
            phase=phase_id,
            number=number,
            commit=kept.commit,
            tree=kept.tree,
            changed=kept.tree != tree_of(repository, base),
        )

    def _check(self, record: Record, proving: Proving, phase: PhaseFacts, number: int) -> None:
        frozen, _ = record.frozen(phase.id)
        attempt = attempt_of(phase, number)
        shown = proving.prove(
            attempt.tree or "",
            tests=record.run.options.get("tests") or None,
            baseline=record.baseline(),
            checks=[check.command for check in frozen.checks],
        )
        record.say(
            "checks.done",
            f"{phase.id}/{number}/checks",
            phase=phase.id,
            number=number,
            outcome=outcome_of(shown),
            failures=failures_of(shown),
            evidence=proving.keep(shown),
        )

    def _together(self, record: Record, proving: Proving, tree: str) -> None:
        tests = record.run.options.get("tests") or None
        shown = proving.prove(tree, tests=tests, baseline=record.baseline(), checks=())
        record.say("together.done", "together", outcome=outcome_of(shown), evidence=proving.keep(shown))

    def _report(self, record: Record, facts: RunFacts) -> None:
        rows = [f"| {phase.id} | {phase.proven or 'not proven'} |" for phase in facts.phases.values()]
        text = "\n".join(
            [
                f"# Run {record.run.options['slug']}.{record.run.number}",
                "",
                "| phase | commit |",
                "|---|---|",
                *rows,
                "",
            ]
        )
        record.say("report.written", "report", report=self._blobs.put(text.encode()))
