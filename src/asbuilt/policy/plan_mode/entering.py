"""Decide who may turn plan mode on: an agent asks the user, a command of the user needs no question. Pure.

Rule: a subagent is always refused. Claude Code's own plan mode is read from payloads (`state.after`).
"""

from __future__ import annotations

from asbuilt.policy.plan_mode.state import Hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

_ASKS = (
    "the agent wants to plan before it changes anything. Yes turns plan mode on: read-only until you approve"
    " a plan. No lets it work without a plan."
)


def decision_for(*, is_subagent: bool, is_on: bool) -> tuple[Literal["ask", "deny"], str] | None:
    """Decide a call of EnterPlanMode, with the reason; None: the rules of plan mode, which is on, apply."""
    if is_subagent:
        return "deny", "EnterPlanMode tool cannot be used in agent contexts."
    return None if is_on else ("ask", _ASKS)


def turned_on_by_user(*, now: float, root: str, plans: str) -> Hold:
    """Return the hold of plan mode that the user turns on: only the plans folder may be written."""
    return Hold(by="command", since=now, root=root, plans=(plans,))
