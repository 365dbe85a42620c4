"""Answer an agent's permission questions from the brief it was started with.

The one rule: no answer waits for anybody, and whatever goes wrong is a refusal.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from asbuilt.agents.adapter import Answer
from asbuilt.policy.roles import refusal

if TYPE_CHECKING:
    from asbuilt.agents.adapter import Call
    from asbuilt.agents.record import Record
    from asbuilt.policy.ring import Level
    from asbuilt.ports import Brief


class BriefGate:
    """The role "workspace" for whoever may write, "read-only" for everybody else."""

    def __init__(self, brief: Brief, level: Level, record: Record) -> None:
        self._brief = brief
        self._level = level
        self._record = record

    async def ask(self, call: Call) -> Answer:
        """Allow or refuse one call, and write it down."""
        answer = self._answer(call)
        self._record.asked(call, answer)
        return answer

    def _answer(self, call: Call) -> Answer:
        workspace = os.path.realpath(self._brief.workspace)
        try:
            # The real path: a link inside the workspace may lead out of it.
            path = os.path.realpath(os.path.join(workspace, call.path)) if call.path else ""  # noqa: PTH118
        except (OSError, ValueError):
            return Answer(allowed=False, reason="Its path cannot be read.")
        refused = refusal(
            "workspace" if self._brief.writable else "read-only",
            call.kind,
            path,
            workspace=workspace,
            held=self._level in ("bwrap", "seatbelt"),
        )
        if refused is None and path in {
            os.path.realpath(self._brief.workspace / one) for one in self._brief.protected
        }:
            refused = "It is read-only for agents." if call.kind == "edit" else None
        return Answer(allowed=refused is None, reason=refused or "")
