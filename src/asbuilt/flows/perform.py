"""Perform the moves of a run, each so that it may be performed again: look whether it is done, then do it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from asbuilt.errors import GateStopped
from asbuilt.flows.outcomes import Outcomes, attempt_of, base_of
from asbuilt.flows.proving import Proving, failures_of, outcome_of, tree_of
from asbuilt.flows.record import Record
from asbuilt.flows.rigs import LIMIT_S, Rigs
from asbuilt.flows.working import Working
from asbuilt.git import commits, snapshots, workspaces
from asbuilt.git.repository import checkouts_of, conflicts, leftover_stashes, open_repository, operations, tip
from asbuilt.git.trees import names_in, text_of
from asbuilt.journal import approvals, claims, runs
from asbuilt.lifecycle import phases
from asbuilt.plan.edit import the_phase
from asbuilt.plan.model import Status
from asbuilt.plan.reader import read
from asbuilt.proof.resolving import (
    LOOKED_INTO,
    READ,
    Project,
    proposal,
    resolve,
    resolve_setup,
    written,
)

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.home import Home
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Store
    from asbuilt.lifecycle.facts import PhaseFacts, RunFacts
    from asbuilt.ports import Attempts, Processes, Workspace


_MAX_COMMAND: Final = 1_000


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
        base = tree_of(repository, facts.base) if facts.base else ""
        proving = Proving(record, self._rigs(run, repository), base)
        outcomes = Outcomes(record, repository, proving, self._home.runs / run.run)
        match move:
            case phases.Start():
                self._start(record, repository)
            case phases.ResolveTests():
                self._resolve_tests(record, repository, base)
            case phases.MakeWorkspace():
                self._workspace(run, repository, facts.base or "")
                record.say("workspace.made", "workspace", lane="main")
            case phases.SetUp():
                self._set_up(record, repository, proving, base)
            case phases.Baseline():
                self._baseline(record, proving)
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
        data = (Path(run.options["checkout"]) / run.plan).read_bytes()
        plan = read(data)
        author = commits.author_of(repository)
        outline = {
            "phases": {phase.id: list(phase.depends_on.on) for phase in plan.phases},
            "titles": {phase.id: phase.title for phase in plan.phases},
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

    def _rigs(self, run: Run, repository: Repository) -> Rigs:
        limit_s = int(run.options.get("limits", {}).get("checks_s", LIMIT_S))
        return Rigs(self._home.path / "setups" / run.repo, repository, self._processes, limit_s=limit_s)

    def _resolve_tests(self, record: Record, repository: Repository, tree: str) -> None:
        """Write down how the project is tested, and whether a person has agreed to it before."""
        run = record.run
        resolved = resolve(_given(run, "tests"), _project(repository, tree))
        key = proposal(resolved)
        with self._store.read() as session:
            said = key and approvals.last_answered(session, run.org, run.repo, under=f"{key}/")
        agreed = said.name if said and said.answer == "yes" else None
        record.say("tests.resolved", "tests", **written(resolved), agreed=agreed)

    def _set_up(self, record: Record, repository: Repository, proving: Proving, tree: str) -> None:
        setup = resolve_setup(_given(record.run, "setup"), _project(repository, tree))
        shown = proving.set_up(setup)
        why = "no setup is set" if setup.command is None else "it stands from before"
        record.say(
            "setup.done",
            "setup",
            command=setup.command,
            digest=setup.digest,
            outcome="PASS" if shown is None else shown.outcome,
            why=why if shown is None else shown.why,
            output=None if shown is None else shown.output,
        )

    def _baseline(self, record: Record, proving: Proving) -> None:
        tests = record.tests()
        if tests is None:
            why = "skipping test gate: there are no tests; when the plan adds some, set checks.tests"
            record.say("baseline.done", "baseline", outcome="PASS", why=why)
            return
        shown, counts = proving.baseline(tests)
        outcome = shown.outcome
        if outcome == "FAIL":
            # Failures of the base are noted and do not block; only not knowing them does.
            outcome = "INDETERMINATE" if counts is None else "PASS"
        record.say(
            "baseline.done",
            "baseline",
            outcome=outcome,
            why=shown.why,
            ran=shown.ran,
            failed=shown.failed,
            counts=None if counts is None else self._blobs.put(json.dumps(counts).encode()),
            evidence=proving.keep([shown]),
        )

    def _begin(self, record: Record, phase_id: str) -> None:
        data = (Path(record.run.options["checkout"]) / record.run.plan).read_bytes()
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
        kept = snapshots.keep(repository, workspace, attempt, parent=base, at=record.author().at)
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
        shown = proving.prove(attempt.tree or "", [check.command for check in frozen.checks])
        record.say(
            "checks.done",
            f"{phase.id}/{number}/checks",
            phase=phase.id,
            number=number,
            outcome=outcome_of(shown),
            failures=failures_of(shown),
            evidence=proving.keep(shown),
            reused=[one.name for one in shown if one.reused],
        )

    def _together(self, record: Record, proving: Proving, tree: str) -> None:
        shown = proving.prove(tree)
        record.say(
            "together.done",
            "together",
            outcome=outcome_of(shown),
            evidence=proving.keep(shown),
            reused=[one.name for one in shown if one.reused],
        )

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


def _project(repository: Repository, tree: str) -> Project:
    names = names_in(repository, tree, below=LOOKED_INTO)
    return Project(names, {name: text_of(repository, names[name]) for name in READ if name in names})


def _given(run: Run, name: str) -> str | None:
    """Return the command that the run was started with; None when nobody has said anything."""
    command: str | None = run.options.get(name)
    if command is not None and len(json.dumps(command)) > _MAX_COMMAND:
        raise GateStopped(
            f"the command for {name} has more than {_MAX_COMMAND} bytes",
            why="It is written down with everything that it proves.",
            next_step="Put it into a script of the repository, and set the command that runs the script.",
        )
    return command
