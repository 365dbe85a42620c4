"""Answer an agent's permission questions from the snapshot that its attempt was started with.

The one rule: no answer waits for anybody, and whatever goes wrong is a refusal.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from asbuilt.agents.contract import Answer
from asbuilt.policy.roles import compiled, refusal
from asbuilt.policy.sandbox.check_environment import PLACED
from asbuilt.policy.sandbox.rules import secrets

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.agents.attempt_folder import Terms
    from asbuilt.agents.contract import Call
    from asbuilt.agents.host.record import Record
    from asbuilt.policy import roles
    from asbuilt.policy.roles import Snapshot
    from asbuilt.ports import Brief, Role

_ROLES: Final[dict[Role, roles.Role]] = {
    "implement": "implementer",
    "fix": "fixer",
    "verify": "verifier",
    "plan": "planner",
    "critique": "critic",
}


def snapshot_of(brief: Brief, terms: Terms, folder: Path) -> Snapshot:
    """Freeze what the role of a brief may do, with the paths as they really are."""
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
    """Answers from one snapshot, whatever code and settings say by now, and writes every answer down."""

    def __init__(self, snapshot: Snapshot, record: Record) -> None:
        self._snapshot = snapshot
        self._record = record

    async def ask(self, call: Call) -> Answer:
        """Allow or refuse one call, and write it down."""
        answer = answered(self._snapshot, call)
        self._record.asked(call, answer)
        return answer


def answered(snapshot: Snapshot, call: Call) -> Answer:
    """Give the answer of a snapshot to a call."""
    try:
        # The real path: a link inside the workspace may lead out of it.
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
    """Give a path in the workspace its name there: a traceback shows the one that checks have for it."""
    below = path.removeprefix(PLACED.checkout)
    return snapshot.workspace + below if below != path and below[:1] in ("", "/") else path
