"""Compare what is around a workspace before and after an agent that runs without a sandbox.

Rule: the state to compare with is recorded before the phase's first agent starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.errors import GateStopped
from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.runs import RunStarted
from asbuilt.flows.checks.prove import tree_of
from asbuilt.git.repository import Repository
from asbuilt.git.workspace.unsandboxed_reach import reach, under_way
from asbuilt.git.workspace.workspaces import written_in
from asbuilt.ports import Workspace
from asbuilt.proof.change.scope import strayed

if TYPE_CHECKING:
    from asbuilt.flows.run.record import Record

_NAMED: Final = 20


class Surroundings:
    """The files and refs around one workspace that are compared."""

    def __init__(self, record: Record, repository: Repository, workspace: Workspace) -> None:
        self._record = record
        self._repository = repository
        self._workspace = workspace

    def keep(self) -> str:
        """Keep the current state as a blob and return its digest."""
        return self._record.blobs.put_json(self._now())

    def keep_strayed(self, phase: str) -> str | None:
        """Keep the changes since the phase's first agent started; None if there are none."""
        digest = self._record.event(AttemptBegun, f"{phase}/1/begun/1").before
        if digest is None:
            return None
        before, now = self._record.blobs.get_json(digest), self._now()
        # Refs that were created since are asbuilt's own.
        now["ours"] = {
            name: value
            for name, value in now["ours"].items()
            if name in before["ours"] or not name.startswith("refs/")
        }
        found = [
            remark
            for part, is_shared in (("ours", False), ("shared", True))
            for remark in strayed(before[part], now[part], is_shared=is_shared)
        ]
        return self._record.keep(found[:_NAMED]) if found else None

    def _now(self) -> dict[str, dict[str, str]]:
        # In a sandbox, an agent cannot change the user's checkout.
        is_open = self._record.event(RunStarted, "started").ring == "none"
        return {
            "ours": reach(self._repository, self._workspace, self._record.run.run),
            "shared": under_way(self._repository) if is_open else {},
        }


def need_unchanged(repository: Repository, workspace: Workspace, base: str) -> None:
    """Refuse the output of a planner that changed its workspace."""
    wrote = written_in(repository, workspace, tree_of(repository, base))
    if wrote:
        raise GateStopped(
            f"an agent that plans has changed {', '.join(wrote[:3])} in its workspace",
            why="Planning is read-only, and no sandbox enforces it here. The agent's output is discarded.",
            next_step="`asbuilt doctor` shows how to get a sandbox; then plan again.",
        )
