"""One move of a run, with everything outside that it may use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from asbuilt.flows.checks.prove import Proving, tree_of
from asbuilt.flows.environments.check_environment import CheckEnvironments
from asbuilt.flows.run.environment import given_in, kept, kept_for_forge
from asbuilt.git.forge.github import GitHub, open_forge
from asbuilt.git.repository import Repository
from asbuilt.git.workspace import workspaces
from asbuilt.ports import Processes, Workspace
from asbuilt.settings.running import check_limit_s

if TYPE_CHECKING:
    from asbuilt.flows.engine.fence import Signals
    from asbuilt.flows.run.record import Record
    from asbuilt.journal.home import Home
    from asbuilt.lifecycle.run.proving import ProvingFacts


class Context(Struct, frozen=True):
    """The run's record and repository, the state folder, commands, and signals."""

    record: Record
    repository: Repository
    home: Home
    processes: Processes
    signals: Signals

    @property
    def room(self) -> Path:
        """The run's own folder below the state folder."""
        return self.home.runs / self.record.run.run

    @property
    def workspaces(self) -> Path:
        """The folder of this repository's workspaces."""
        return self.home.workspaces / self.record.run.repo

    def forge(self) -> GitHub:
        """Open the forge with the login of the user who asked for the run."""
        return open_forge(self.repository, kept_for_forge(self.room))

    def workspace(self, lane: str, commit: str, *, files_of: str | None = None) -> Workspace:
        """Return a workspace at a commit, made unless it exists; `files_of`: a commit with other files."""
        path = self.lane_folder(lane)
        return workspaces.make(
            self.repository, self.workspaces, self.record.run.run, path.name, commit, files_of=files_of
        )

    def lane_folder(self, lane: str) -> Path:
        """Return the folder of a lane's workspace, whether or not it exists."""
        run = self.record.run
        folder = self.workspaces / run.run
        return folder / workspaces.lane_folder(folder, run.name, lane)

    def environments(self, facts: ProvingFacts) -> CheckEnvironments:
        """Return the check environments of the run; its commands end when the run is stopped."""
        run = self.record.run
        stoppable = self.processes.ending(lambda: facts.may_stop and self.signals.is_stopped(run.run))
        return CheckEnvironments(
            self.home.path / "setups" / run.repo, self.repository, stoppable,
            limit_s=check_limit_s(run.options), environment=kept(self.room), history=facts.base or "",
            given=given_in(self.room, run.options),
        )  # fmt: skip

    def proving(self, facts: ProvingFacts) -> Proving:
        """Return what runs the checks of the run."""
        base = tree_of(self.repository, facts.base) if facts.base else ""
        return Proving(self.record, self.repository, self.environments(facts), base)
