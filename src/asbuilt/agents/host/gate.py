"""Answer an agent's permission requests from the snapshot taken when its attempt started.

Rule: an answer never waits for a user, and a path that cannot be resolved is refused.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from asbuilt.agents.contract import Answer, Call
from asbuilt.policy.roles import Snapshot, compiled, refusal
from asbuilt.policy.sandbox.check_environment import PLACED
from asbuilt.policy.sandbox.rules import secrets

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.agents.attempt_folder import Terms
    from asbuilt.agents.host.record import Record
    from asbuilt.policy import roles
    from asbuilt.ports import Brief, Role

_ROLES: Final[dict[Role, roles.Role]] = {
    "implement": "implementer",
    "fix": "fixer",
    "verify": "verifier",
    "test": "tester",
    "plan": "planner",
    "critique": "critic",
}


def snapshot_of(brief: Brief, terms: Terms, folder: Path) -> Snapshot:
    """Freeze what the role of a brief may do, with resolved paths."""
    workspace = os.path.realpath(brief.workspace)
    own = tuple(os.path.realpath(folder / name) for name in ("home", "tmp", "out"))
    hidden = [*terms.hidden, *(path for home in terms.homes for group in secrets(home) for path in group)]
    return compiled(
        _ROLES[brief.role],
        workspace=workspace,
        home=own[0],
        own=own,
        protected=tuple(os.path.realpath(brief.workspace / one) for one in brief.protected),
        hidden=tuple(map(os.path.realpath, hidden)),
        held=terms.level in ("bwrap", "seatbelt"),
    )


class SnapshotGate:
    """Answers from a snapshot, independent of later changes to settings, and records every answer."""

    def __init__(self, snapshot: Snapshot, record: Record) -> None:
        self._snapshot = snapshot
        self._record = record

    async def ask(self, call: Call) -> Answer:
        """Allow or refuse a call, and record the answer."""
        answer = answered(self._snapshot, call)
        self._record.asked(call, answer)
        return answer


def answered(snapshot: Snapshot, call: Call) -> Answer:
    """Return a snapshot's answer to a call."""
    try:
        # Resolve symlinks: one inside the workspace may lead out of it.
        path, cwd = (
            os.path.realpath(os.path.join(snapshot.workspace, _in_workspace(snapshot, named)))  # noqa: PTH118
            if named
            else ""
            for named in (call.path, call.cwd)
        )
    except (OSError, ValueError):
        return Answer(allowed=False, reason="Its path cannot be read.")
    refused = refusal(snapshot, call.kind, path=path, command=call.command or "", cwd=cwd)
    return Answer(allowed=refused is None, reason=refused or "")


def _in_workspace(snapshot: Snapshot, path: str) -> str:
    """Map the path that checks use for the workspace, as in a traceback, to the workspace."""
    below = path.removeprefix(PLACED.checkout)
    return snapshot.workspace + below if below != path and below[:1] in ("", "/") else path
