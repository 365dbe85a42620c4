"""Perform the moves of a run, each so that it may be performed again: look whether it is done, then do it."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from asbuilt.errors import TreeTooLarge
from asbuilt.events.attempts import AttemptLost, ChecksDone, TogetherDone, TreeKept, TreeRefused
from asbuilt.events.phases import PhaseBegun, PhaseRechecked, WorkspaceMade
from asbuilt.events.runs import ReportWritten
from asbuilt.flows.attempts.work import Working
from asbuilt.flows.authoring.perform import Authoring
from asbuilt.flows.checks import prepare
from asbuilt.flows.checks.inspect import are_compared, failing_of, inspect, keep_remarks, kept_remarks
from asbuilt.flows.checks.outside_changes import Surroundings
from asbuilt.flows.checks.pictures import take_pictures
from asbuilt.flows.checks.prove import Proving, failures_of, outcome_of, tree_of, unusable_in
from asbuilt.flows.engine.signals import Tidings
from asbuilt.flows.environments.check_environment import Rigs
from asbuilt.flows.landing.commits import Outcomes, attempt_of
from asbuilt.flows.landing.comparison import compare
from asbuilt.flows.landing.tidy import tidy
from asbuilt.flows.pull_request.conclude import check_invariants, drop_pushed
from asbuilt.flows.pull_request.land import Pulls
from asbuilt.flows.pull_request.repairs import Ground, check_repair, ground_of
from asbuilt.flows.report import account_of
from asbuilt.flows.run.approval import hold_to_approval
from asbuilt.flows.run.environment import given_in, kept, kept_for_forge
from asbuilt.flows.run.plan_file import Document
from asbuilt.flows.run.record import Record
from asbuilt.flows.start import start
from asbuilt.flows.tasks.perform import Tasking
from asbuilt.flows.trials.suite import Order
from asbuilt.git.changes import base_of
from asbuilt.git.forge.detect import open_forge
from asbuilt.git.locks import heal_left
from asbuilt.git.repository import open_repository
from asbuilt.git.workspace import snapshots, workspaces
from asbuilt.lifecycle.plan_run import decide
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import WHOLE
from asbuilt.lifecycle.run.pull_request import REPAIRS
from asbuilt.pages.telling import Page
from asbuilt.plan.editing.edit import the_phase
from asbuilt.plan.reader import read
from asbuilt.proof.trials.flakiness import Flaky, remarks_on_flaky
from asbuilt.settings.running import check_limit_s

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from asbuilt.flows.engine.fence import Fenced
    from asbuilt.flows.engine.lease import Lease
    from asbuilt.git.repository import Repository
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.home import Home
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.run.facts import RunFacts
    from asbuilt.ports import Attempts, Forge, Processes, Workspace


_BY_PULL: Final = (
    decide.Land, decide.Tidy, moves.Look, moves.Push, moves.Propose, moves.Mend, moves.Merge,
    moves.CloseIssues, moves.CheckInvariants,
)  # fmt: skip
"""Moves that are other ones where a pull request lands."""


class Performer:
    """Everything that a run does to the world outside."""

    def __init__(  # noqa: PLR0913 - everything outside
        self,
        home: Home,
        store: Store,
        blobs: Blobs,
        attempts: Attempts,
        processes: Processes,
        *,
        awake: Callable[[], AbstractContextManager[object]] = nullcontext,
        lease: Lease | None = None,
        forge: Callable[[Repository, Mapping[str, str]], Forge] = open_forge,
    ) -> None:
        """Take what it works with; `awake` keeps the machine from sleeping while an agent works.

        `forge` opens the one where a repository's pull requests are, with the login of who asked for a run.

        Where other workers share the database, agents work for as long as the `lease` is renewed.
        """
        self.home = home
        self._store = store
        self._blobs = blobs
        self.tidings = Tidings()
        setups = home.path / "setups"
        self._working = Working(attempts, awake, self.tidings, lease, home.runs, setups)
        self._processes = processes
        self._authoring = Authoring(home, self._working, processes)
        self._tasking = Tasking(home, self._working)
        self._forge = forge

    def perform(self, run: Run, facts: RunFacts, move: decide.Move, fenced: Fenced) -> None:
        """Perform one move; what comes of it is written down only as long as the segment is ours."""
        repository = open_repository(Path(run.options.checkout), agreed=run.options.programs or ())
        # A move that was cut off may find its work done, and the lock of the git that did it.
        heal_left(repository)
        record = Record(run=run, store=fenced, blobs=self._blobs, workflow=fenced.segment.workflow)
        if facts.kind == "author":
            self._authoring.perform(record, repository, facts, move, ring=self._processes.level)
        elif facts.kind == "task":
            self._tasking.perform(record, repository, facts, move, ring=self._processes.level)
        elif facts.way == "pr" and facts.kind != "undo" and isinstance(move, _BY_PULL):
            self._by_pull(record, repository, facts, move)
        else:
            self._perform(record, repository, facts, move)

    def _perform(self, record: Record, repository: Repository, facts: RunFacts, move: decide.Move) -> None:
        run = record.run
        proving = self._proving(record, repository, facts)
        base = proving.base
        outcomes = Outcomes(record, repository, proving, self.home.runs / run.run)
        match move:
            case decide.Start():
                pushed = self._pushed(record, repository, facts)
                room = self.home.runs / run.run
                start(record, repository, ring=self._processes.level, room=room, pushed=pushed)
            case decide.ResolveTests():
                prepare.resolve_tests(record, repository, base)
            case decide.MakeWorkspace():
                self._main(run, repository, facts)
                record.say(WorkspaceMade(lane=facts.lane), "workspace")
            case decide.SetUp():
                prepare.set_up(record, repository, proving, base)
            case decide.Baseline():
                prepare.run_baseline(record, proving, facts)
            case decide.Begin(phase=phase):
                self._begin(record, repository, outcomes, facts, phase)
            case decide.Attempt():
                self._attempt(record, repository, facts, move)
            case decide.Keep(phase=phase, number=number):
                self._keep(record, repository, facts, phase, number)
            case decide.Check(phase=phase, number=number):
                self._check(record, repository, proving, facts, phase, number)
            case decide.Verify():
                self._verify(record, repository, facts, move)
            case decide.Commit(phase=phase, number=number):
                outcomes.commit(facts, self._main(run, repository, facts), phase, number)
            case decide.Compare(point=point):
                self._compare(record, repository, facts, point)
            case decide.Recheck(phase=phase):
                self._recheck(record, repository, proving, phase)
            case decide.ProveTogether():
                self._together(record, repository, proving, facts)
            case decide.VerifyTogether():
                self._verify_together(record, repository, facts)
            case decide.Report():
                record.say(ReportWritten(report=self.report(run, facts)), "report")
            case decide.Land():
                outcomes.land(facts)
            case decide.Mark():
                outcomes.mark(facts)
            case decide.Tidy():
                tidy(record, repository, facts, self.home.workspaces / run.repo)
            case (
                moves.Judge() | moves.Draft() | moves.File() | moves.Post() | moves.Look() | moves.Push()
                | moves.Propose() | moves.Mend() | moves.Merge() | moves.CloseIssues()
                | moves.CheckInvariants() | decide.Ask() | decide.Wait() | decide.End()
            ):  # fmt: skip
                raise ValueError(move)
            case _:
                assert_never(move)

    def _proving(self, record: Record, repository: Repository, facts: RunFacts) -> Proving:
        base = tree_of(repository, facts.base) if facts.base else ""
        return Proving(record, repository, self._rigs(record.run, repository, facts), base)

    def _opened(self, record: Record, repository: Repository) -> Forge:
        return self._forge(repository, kept_for_forge(self.home.runs / record.run.run))

    def _pushed(self, record: Record, repository: Repository, facts: RunFacts) -> str | None:
        """Give the target's tip at the forge, for a run that lands there."""
        if facts.way != "pr" or facts.kind not in ("run", "land"):
            return None
        return self._opened(record, repository).fetch(record.run.options.branch)

    def _by_pull(
        self,
        record: Record,
        repository: Repository,
        facts: RunFacts,
        move: decide.Land | decide.Tidy | moves.CheckInvariants | moves.PullMove,
    ) -> None:
        """Perform a move of a landing by pull request."""
        forge = self._opened(record, repository)
        root = self.home.workspaces / record.run.repo
        pulls = Pulls(record, repository, self._proving(record, repository, facts), forge)
        match move:
            case decide.Land():
                pulls.land(facts)
            case decide.Tidy():
                drop_pushed(record, repository, forge, pulls.known())
                tidy(record, repository, facts, root)
            case moves.CheckInvariants():
                check_invariants(record, repository, forge, facts, root)
            case _:
                pulls.perform(facts, move)

    def _ground(
        self, record: Record, repository: Repository, facts: RunFacts, name: str, number: int
    ) -> Ground:
        """Tell where an attempt works: at the plan's phases, or at what is mended of its pull request."""
        if name in REPAIRS:
            return ground_of(record, repository, facts, name, number)
        return Ground(facts.lane, facts.base_now, decide.last_kept(facts) or facts.carried)

    def _space(self, record: Record, repository: Repository, ground: Ground) -> Workspace:
        root = self.home.workspaces / record.run.repo
        run, files_of = record.run.run, ground.files_of
        return workspaces.make(repository, root, run, ground.lane, ground.base, files_of=files_of)

    def _main(self, run: Run, repository: Repository, facts: RunFacts) -> Workspace:
        """Give the workspace in which the run's agents work.

        Unless it is there, it is made of what was kept: where the run stands, with the files of the last try.
        """
        root, files_of = self.home.workspaces / run.repo, decide.last_kept(facts) or facts.carried
        return workspaces.make(repository, root, run.run, facts.lane, facts.base_now, files_of=files_of)

    def _workspace(self, run: Run, repository: Repository, commit: str, lane: str) -> Workspace:
        return workspaces.make(repository, self.home.workspaces / run.repo, run.run, lane, commit)

    def _rigs(self, run: Run, repository: Repository, facts: RunFacts) -> Rigs:
        room = self.home.runs / run.run
        stoppable = self._processes.ending(
            lambda: decide.may_stop(facts) and self.tidings.is_stopped(run.run)
        )
        return Rigs(
            self.home.path / "setups" / run.repo, repository, stoppable,
            limit_s=check_limit_s(run.options), environment=kept(room), history=facts.base or "",
            given=given_in(room, run.options),
        )  # fmt: skip

    def _begin(
        self, record: Record, repository: Repository, outcomes: Outcomes, facts: RunFacts, phase_id: str
    ) -> None:
        outcomes.go_on(facts, self._main(record.run, repository, facts))
        data = Document(record, repository).read()
        hold_to_approval(record, data)
        phase = the_phase(read(data), phase_id)
        record.say(
            PhaseBegun(phase=phase_id, intent=phase.intent, text=self._blobs.put(data)), f"{phase_id}/begun"
        )

    def _attempt(self, record: Record, repository: Repository, facts: RunFacts, move: decide.Attempt) -> None:
        ground = self._ground(record, repository, facts, move.phase, move.number)
        workspace = self._space(record, repository, ground)
        around = Surroundings(record, repository, workspace)
        self._working.attempt(record, workspace, facts, move, around)

    def _keep(
        self, record: Record, repository: Repository, facts: RunFacts, phase_id: str, number: int
    ) -> None:
        ground = self._ground(record, repository, facts, phase_id, number)
        base = ground.base
        attempt = f"{record.run.run}.{phase_id}.{number}"
        folder = self.home.workspaces / record.run.repo / record.run.run / ground.lane
        if not folder.is_dir() and snapshots.kept(repository, attempt) is None:
            reason = f"Its files were with a worker that is lost: {folder} is not here."
            start = attempt_of(facts.part(phase_id), number).starts
            key = f"{phase_id}/{number}/lost/{start}"
            record.say(AttemptLost(phase=phase_id, number=number, reason=reason), key)
            return
        workspace = self._space(record, repository, ground)
        author = record.author()
        kept = snapshots.found(repository, attempt)
        # A journal behind git asks again for what was kept before other files came into the workspace.
        if kept is None or workspaces.lent_to(workspace) == attempt:
            try:
                kept = snapshots.keep(repository, workspace, attempt, parent=base, at=author.at)
            except TreeTooLarge as error:
                again = attempt_of(facts.part(phase_id), number).refusals + 1
                key, reason = f"{phase_id}/{number}/refused/{again}", f"{error.what}. {error.next_step}"
                record.say(TreeRefused(phase=phase_id, number=number, reason=reason), key)
                return
            # The plan is ours to mark and the person's to change; an agent's tree brings it as it was.
            if record.run.is_in_repository:
                kept = workspaces.put_back(
                    repository, workspace, record.run.plan, kept=kept, base=base, author=author
                )
        if phase_id in REPAIRS:
            # Nothing goes on in there: what was kept is all that it has.
            workspaces.reset_to(repository, workspace, kept.commit, kept=kept)
        record.say(
            TreeKept(
                phase=phase_id,
                number=number,
                commit=kept.commit,
                tree=kept.tree,
                changed=kept.tree != tree_of(repository, base),
            ),
            f"{phase_id}/{number}/kept",
        )

    def _check(
        self,
        record: Record,
        repository: Repository,
        proving: Proving,
        facts: RunFacts,
        name: str,
        number: int,
    ) -> None:
        if name in REPAIRS:
            check_repair(record, repository, proving, facts, name, number)
            return
        phase = facts.phases[name]
        frozen, text = record.frozen(phase.id)
        attempt = attempt_of(phase, number)
        checks = [check.command for check in frozen.checks]
        seen = inspect(record, repository, phase.id, attempt.commit or "")
        outside = kept_remarks(record, attempt.outside)
        failing = [*failing_of(outside, changed=attempt.changed), *seen.failing]
        base = tree_of(repository, base_of(repository, attempt.commit or ""))
        order = Order(base, text, compared=are_compared(seen.remarks))
        # Where the suite was made to pass, what it says shows nothing.
        shown = [] if failing else proving.prove(attempt.tree or "", checks, order=order)
        by_chance = remarks_on_flaky(Flaky(*test) for one in shown for test in one.flaky)
        remarks = (*outside, *seen.after(shown), *by_chance)
        failing = failing_of(remarks, changed=attempt.changed)
        record.say(
            ChecksDone(
                phase=phase.id,
                number=number,
                outcome="FAIL" if failing else outcome_of(shown),
                failures=tuple(failing or failures_of(shown)),
                evidence=proving.keep(shown),
                reused=tuple(one.name for one in shown if one.reused),
                inspected=seen.of,
                remarks=keep_remarks(record, remarks),
                unusable=unusable_in(shown),
            ),
            f"{phase.id}/{number}/checks{attempt.unusable or ''}",
        )

    def _verify(self, record: Record, repository: Repository, facts: RunFacts, move: decide.Verify) -> None:
        commit = attempt_of(facts.phases[move.phase], move.number).commit or ""
        workspace = self._workspace(record.run, repository, commit, f"verify-{move.phase}-{move.number}")
        self._working.verify(record, repository, workspace, facts, move)

    def _compare(self, record: Record, repository: Repository, facts: RunFacts, point: str) -> None:
        # In between nobody looks; before a landing it is all there is to see.
        if point == decide.LANDING or record.run.options.landing == "direct":
            take_pictures(record, repository, self._rigs(record.run, repository, facts), facts)
        compare(record, repository, Document(record, repository), facts, point)

    def _recheck(self, record: Record, repository: Repository, proving: Proving, phase_id: str) -> None:
        """Prove a phase again, as the plan words it now, on what the run began with."""
        phase = the_phase(read(Document(record, repository).read()), phase_id)
        shown = proving.prove(proving.base, [check.command for check in phase.checks])
        outcome, failures, kept = outcome_of(shown), tuple(failures_of(shown)), proving.keep(shown)
        event = PhaseRechecked(phase=phase_id, outcome=outcome, failures=failures, evidence=kept)
        record.say(event, f"{phase_id}/rechecked")

    def _together(self, record: Record, repository: Repository, proving: Proving, facts: RunFacts) -> None:
        """Run the tests on all of it, and the checks of every phase: a later one may have undone another."""
        tree = tree_of(repository, facts.base_now)
        frozen = [record.frozen(work.phase, run=work.run)[0] for work in facts.pending]
        checks = dict.fromkeys(check.command for phase in frozen for check in phase.checks)
        # The last phase's own were run on this very tree.
        known = {
            one.name: one._replace(reused=True)
            for one in record.shown()
            if one.tree == tree and one.name in checks and one.outcome == "PASS"
        }
        shown = [*proving.prove(tree, [check for check in checks if check not in known]), *known.values()]
        record.say(
            TogetherDone(
                failures=tuple(failures_of(shown)),
                outcome=outcome_of(shown),
                evidence=proving.keep(shown),
                reused=tuple(one.name for one in shown if one.reused),
            ),
            "together",
        )

    def _verify_together(self, record: Record, repository: Repository, facts: RunFacts) -> None:
        workspace = self._workspace(record.run, repository, facts.base_now, f"verify-{WHOLE}")
        self._working.verify_together(record, repository, workspace, facts)

    def report(self, run: Run, facts: RunFacts, now: str = "") -> str:
        """Write the account of a run as it stands now; returns its digest."""
        record = Record(run=run, store=self._store, blobs=self._blobs)
        account = account_of(record, facts, self.home.workspaces / run.repo / run.run, now)
        return self._blobs.put(Page(account, UTC).markdown.encode("utf-8", "replace"))
