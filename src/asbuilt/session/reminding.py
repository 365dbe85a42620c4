"""When to remind an agent that plan mode is on, and to report that it ended. Pure.

Rule: a reminder that the agent's own plan mode sends is not repeated.
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
    """Return the state after a prompt, and the reminder for the agent; empty if none."""
    if hold is None:
        # asbuilt reminded the agent that plan mode is on; only asbuilt can report that it is over.
        told = words(Notice("plan_mode_exit"), plan=plan) if state.reminded else ""
        return state._replace(reminded=0, turns=0), told if plan else told.partition(" The plan is in")[0]
    if hold.by == "mode" or mode == PLAN:
        return state, ""
    turns = state.turns if state.reminded else TURNS_BETWEEN
    planning = Mode(mode="plan", before="default", reminded=state.reminded, turns=turns)
    after, said = step(planning, Prompted(human=is_typed))
    texts = [words(one.notice, plan=plan or "not written yet") for one in said if isinstance(one, Told)]
    return state._replace(reminded=after.reminded, turns=after.turns), "\n".join(texts)
