"""A performer whose agents never come to an end; it waits for them as the real one does."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.flows.attempts.hosts import Hosts
from asbuilt.flows.attempts.work import Working
from asbuilt.lifecycle.plan_run.facts import PlanFacts
from asbuilt.lifecycle.run import moves
from asbuilt.ports import Workspace
from measures.noop import Noop

if TYPE_CHECKING:
    from datetime import datetime

    from asbuilt.flows.engine.lease import Lease
    from asbuilt.flows.run.record import Record
    from asbuilt.journal.blobs import Blobs
    from asbuilt.journal.home import Home
    from asbuilt.lifecycle.kinds import Facts
    from asbuilt.ports import Brief, Result


class Sleepers:
    """Agents that live and say nothing; each has a file in a folder once somebody waits for it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder

    def start(self, brief: Brief, *, after: int = 0) -> None:
        """Let it sleep."""

    def result(self, attempt: str) -> Result | None:
        """Come to no end."""
        del attempt
        return None

    def written(self, attempt: str) -> bytes | None:
        """Come to no end."""
        del attempt
        return None

    def adopt(self, attempt: str, data: bytes) -> None:
        """Sleep on."""

    def heartbeat(self, attempt: str) -> None:
        """Hear that somebody waits."""
        (self._folder / attempt).touch()

    def alive(self, attempt: str) -> bool:
        """Live."""
        del attempt
        return True

    def cancel(self, attempt: str) -> None:
        """Sleep on."""

    def starts(self, attempt: str) -> int:
        """Have been started once."""
        del attempt
        return 1

    def events(self, attempt: str, after: int = 0) -> tuple[list[dict[str, object]], int]:
        """Say nothing."""
        del attempt
        return [], after

    def last_activity(self, attempt: str) -> datetime | None:
        """Give no sign."""
        del attempt
        return None


class Asleep(Noop):
    """Everything as without agents, but for the first attempt, which is waited for."""

    def __init__(self, home: Home, blobs: Blobs, lease: Lease | None, folder: Path) -> None:
        super().__init__(home, blobs)
        self._working = Working(Hosts(Sleepers(folder), nullcontext, self.signals, lease), folder, folder)

    def work(
        self,
        record: Record,
        facts: Facts,
        move: moves.Begin | moves.Attempt | moves.Keep | moves.Check | moves.Verify | moves.Commit,
    ) -> None:
        """Wait for an agent as a worker does."""
        if isinstance(move, moves.Attempt) and isinstance(facts, PlanFacts):
            here = Workspace(path=Path("/"), git_dir=Path("/"), common=Path("/"))
            self._working.attempt(record, here, facts, move)
        else:
            super().work(record, facts, move)
