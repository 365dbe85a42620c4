"""Dry-run a plan's checks on its base, offline. Rule: only in a sandbox, as they are not approved yet."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from asbuilt.errors import GateStopped
from asbuilt.events.plans import DraftTried
from asbuilt.flows.checks.project import project_of
from asbuilt.flows.run.record import ACTOR
from asbuilt.git.files import entries
from asbuilt.git.repository import Repository
from asbuilt.journal.events import append, keyed
from asbuilt.journal.ids import Address
from asbuilt.lifecycle.approval import Revision
from asbuilt.plan.model import Plan
from asbuilt.policy.sandbox.rules import Level
from asbuilt.proof.checks_before_work import (
    Before,
    Shown,
    Tried,
    judge,
    needs_shell,
    not_tried,
    parse_only,
    to_try,
    trial_summary,
    tried_from,
)
from asbuilt.proof.evidence import last_lines
from asbuilt.proof.failure import Failure, What, checkout_of, explained
from asbuilt.proof.judgement import judge_setup
from asbuilt.proof.projects.finding import find, has_test_files
from asbuilt.proof.projects.model import Setup, Suite
from asbuilt.proof.projects.resolving import resolve_setup
from asbuilt.proof.runner_command_lines import Call
from asbuilt.proof.test_command_trials import Ran, Seen, Way, ways

if TYPE_CHECKING:
    from asbuilt.flows.environments.check_environment import CheckEnvironment, CheckEnvironments
    from asbuilt.flows.environments.results import Ran as RanThere
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.database.store import Session
    from asbuilt.ports import Ended

_SHOWS: Final = (Before.FAILS, Before.ABSENT, Before.PASSES)
LIMIT_S: Final = 120
"""Time limit of one check in a dry run; most fail at once."""
SUITE_LIMIT_S: Final = 15 * 60
"""Time limit of a whole suite while the user waits for it."""


class Trying:
    """Dry runs in the check environments of one repository, on the tree that a plan would start from."""

    def __init__(
        self, repository: Repository, environments: CheckEnvironments, tree: str, level: Level
    ) -> None:
        self._repository = repository
        self._environments = environments
        self._tree = tree
        self._level = level
        self._ran: dict[tuple[Setup, Suite], Ran] = {}
        """Results of suites: several ways share some."""
        self._broken: set[Setup] = set()
        """Setups that failed: several ways share one, and it takes minutes."""

    def tried(self, plan: Plan, *, setup: str | None, done: Collection[str] | None = None) -> list[Tried]:
        """Run every check of the open phases and of the whole plan; each command runs once.

        `setup` is the chosen command: None to detect one, empty for none. `done` names the completed phases;
        None: those that the plan marks as done.
        """
        wanted = to_try(plan, done)
        if not wanted:
            return []
        if self._level == "none":
            raise GateStopped(
                "Sandbox unavailable here, so no check can run",
                why="Nobody has approved these commands yet, and they could reach your files and network.",
                next_step="`asbuilt doctor --fix sandbox`, or leave --try out.",
            )
        files = [os.fsdecode(path) for path in entries(self._repository.git, self._tree)]
        folders = {path[:at] for path in files for at, letter in enumerate(path) if letter == "/"}
        there = frozenset((*files, *folders))
        resolved = resolve_setup(setup, project_of(self._repository, self._tree))
        with self._environments.take(resolved) as environment:
            made = environment.set_up(self._tree)
            ready = None if made is None else judge_setup(made.ended.exit_code)
            if ready is not None and ready.outcome != "PASS":
                failure = None if made is None else self._failure("setup", made.command, made.ended)
                why = f"setup: {ready.why}"
                return [not_tried(phase, check, why, failure) for phase, check in wanted]
            commands = dict.fromkeys(check.command for _, check in wanted)
            ended = {line: environment.run(self._tree, line, limit_s=LIMIT_S).ended for line in commands}
            shown = {command: self._shown(environment, command, ended[command]) for command in commands}
        tried = (judge(phase, check, shown[check.command], there) for phase, check in wanted)
        return [
            trial
            if trial.before in _SHOWS
            else trial._replace(failure=self._failure("check", trial.command, end))
            for trial in tried
            for end in (ended[trial.command],)
        ]

    def ways(self) -> tuple[Way, ...]:
        """List the ways to test the project that its files point to."""
        return ways(project_of(self._repository, self._tree))

    def signs(self) -> tuple[str, ...]:
        """List the files that look like tests and that no way runs."""
        return find(project_of(self._repository, self._tree)).unknown

    def is_broken(self, way: Way, *, setup: str | None) -> bool:
        """Return whether the setup of a way has failed for another way."""
        return self._setup(way, setup) in self._broken

    def seen(self, way: Way, *, setup: str | None, required: bool = True) -> Seen:
        """Run all suites of a way on the tree, as a run's baseline would; `setup` as for `tried`.

        Without a sandbox, nothing runs if one is `required`.
        """
        if self._level == "none" and required:
            return Seen(way, why="not tried: the sandbox is unavailable")
        resolved = self._setup(way, setup)
        with self._environments.take(resolved) as environment:
            made = environment.set_up(self._tree)
            if made is not None and made.ended.exit_code != 0:
                self._broken.add(resolved)
                return Seen(way, (_ran(made, what="setup"),), setup=made.command)
            for suite in way.suites:
                if (resolved, suite) not in self._ran:
                    there = environment.run(
                        self._tree, suite.command, folder=suite.folder, limit_s=SUITE_LIMIT_S
                    )
                    self._ran[resolved, suite] = _ran(there, by_exit=suite.counts == "exit-code")
            ran = tuple(self._ran[resolved, suite] for suite in way.suites)
            return Seen(way, ran, has_files=has_test_files(project_of(self._repository, self._tree)))

    def _setup(self, way: Way, setup: str | None) -> Setup:
        return resolve_setup(setup, project_of(self._repository, self._tree), way.suites)

    def _failure(self, what: What, command: str, ended: Ended) -> Failure:
        failure = Failure(
            what,
            command,
            checkout_of(self._tree),
            ended.exit_code,
            timed_out=ended.exit_code is None,
            duration_s=ended.duration_s,
        )
        return explained(failure, ended.output)

    def _shown(self, environment: CheckEnvironment, command: str, ended: Ended) -> Shown:
        shown = Shown(ended.exit_code, ended.output.decode("utf-8", "replace"))
        if not shown.exit_code or not needs_shell(command):
            return shown
        read = environment.run(self._tree, command, call=Call(parse_only(command)), limit_s=LIMIT_S).ended
        if read.exit_code == 0:
            return shown
        return Shown(shown.exit_code, read.output.decode("utf-8", "replace"), parses=False)


def _ran(ran: RanThere, *, what: What = "baseline", by_exit: bool = False) -> Ran:
    """Return a command's result; the last of its lines is the cause, if known."""
    code, output = ran.ended.exit_code, ran.ended.output
    failed = explained(Failure(what, ran.command, "", code, timed_out=code is None), output)
    cause = (failed.cause,) if failed.cause and code != 0 else ()
    missing = failed.missing
    return Ran(code, ran.counts, (*last_lines(output), *cause), by_exit=by_exit, missing=missing)


def keep_tried(
    session: Session, blobs: Blobs, address: Address, revision: Revision, tried: Sequence[Tried]
) -> None:
    """Record the dry run of a draft, for the approver."""
    rows = blobs.put_json([trial.plain for trial in tried])
    event = DraftTried(number=revision.number, rows=rows, told=trial_summary(tried))
    append(session, address, event, key=_key(revision), actor=ACTOR, run=revision.run)


def tried_of(session: Session, blobs: Blobs, address: Address, revision: Revision) -> list[Tried] | None:
    """Return the dry run of a draft; None if there was none."""
    found = keyed(session, address, _key(revision))
    if found is None or not isinstance(found.event, DraftTried):
        return None
    return [tried_from(row) for row in blobs.get_json(found.event.rows)]


def _key(revision: Revision) -> str:
    return f"{revision.run}/tried/{revision.number}"
