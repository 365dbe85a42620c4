"""Planning is read-only. Without a sandbox, a planner's workspace is checked afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.errors import GateStopped
from asbuilt.flows.checks.prove import tree_of
from asbuilt.git.workspace.workspaces import written_in

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository
    from asbuilt.ports import Workspace


def need_unchanged(repository: Repository, workspace: Workspace, base: str) -> None:
    """Refuse the output of a planner that changed its workspace."""
    wrote = written_in(repository, workspace, tree_of(repository, base))
    if wrote:
        raise GateStopped(
            f"an agent that plans has changed {', '.join(wrote[:3])} in its workspace",
            why="Planning is read-only, and no sandbox enforces it here. The agent's output is discarded.",
            next_step="`asbuilt doctor` shows how to get a sandbox; then plan again.",
        )
