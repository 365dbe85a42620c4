"""When a conversation is told that planning is held, and that it is over. Pure.

The one rule: what the agent's own plan mode says already is not said again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.policy.plan_mode.hold import PLAN
from asbuilt.policy.plan_mode.mode import Prompted, Told, step
from asbuilt.policy.plan_mode.mode import State as Mode
from asbuilt.policy.plan_mode.reminders import TURNS_BETWEEN, Notice, words

if TYPE_CHECKING:
    from asbuilt.policy.plan_mode.hold import Hold
    from asbuilt.session.state import State


def reminded(state: State, hold: Hold | None, *, mode: str, plan: str, is_typed: bool) -> tuple[State, str]:
    """Give the state after a prompt, and what the agent is told with it; empty: nothing."""
    if hold is None:
        # It believes that planning is held, because it was told so; nobody else tells it the end.
        told = words(Notice("plan_mode_exit"), plan=plan) if state.reminded else ""
        return state._replace(reminded=0, turns=0), told if plan else told.partition(" The plan is in")[0]
    if hold.by == "mode" or mode == PLAN:
        return state, ""
    turns = state.turns if state.reminded else TURNS_BETWEEN
    planning = Mode(mode="plan", before="default", reminded=state.reminded, turns=turns)
    after, said = step(planning, Prompted(human=is_typed))
    texts = [words(one.notice, plan=plan or "not written yet") for one in said if isinstance(one, Told)]
    return state._replace(reminded=after.reminded, turns=after.turns), "\n".join(texts)
