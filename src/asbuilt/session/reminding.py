"""When to remind an agent that plan mode is on, and to report that it is off. Pure.

Rule: Claude Code reminds the agent of its own plan mode, so asbuilt does so only for a hold of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.policy.plan_mode.reminder_texts import REENTRY, TURNS_BETWEEN, left, reminder
from asbuilt.policy.plan_mode.state import PLAN, Hold

if TYPE_CHECKING:
    from asbuilt.session.state import State


def reminded(state: State, hold: Hold | None, *, mode: str, is_typed: bool) -> tuple[State, str]:
    """Return the state after a prompt, and the reminder for the agent; empty if none."""
    if hold is None:
        advice = left(state.plan) if state.reminded else ""
        return state._replace(reminded=0, turns=0, planned=state.plan), advice
    if hold.by == "mode" or mode == PLAN or not is_typed:
        return state, ""
    if state.reminded and state.turns + 1 < TURNS_BETWEEN:
        return state._replace(turns=state.turns + 1), ""
    texts = [reminder(state.reminded + 1, state.plan)]
    if not state.reminded and state.planned:
        texts.insert(0, REENTRY.format(plan=state.planned))
    return state._replace(reminded=state.reminded + 1, turns=0), "\n".join(texts)
