"""When to remind an agent that plan mode is on, and to report that it is off, with asbuilt's own texts. Pure.

Rules: the count that decides between full and sparse includes the reminder that is about to be sent. Claude
Code reminds the agent of its own plan mode, so asbuilt does so only for a hold of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.policy.plan_mode.state import PLAN, Hold

if TYPE_CHECKING:
    from asbuilt.session.conversation_state import State


TURNS_BETWEEN: Final = 5
"""Prompts of the user from one reminder to the next."""
FULL_EVERY: Final = 5


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


def reminder(count: int, plan: str) -> str:
    """Return a reminder by its number since plan mode was turned on: 1st, 6th, 11th are full."""
    text = FULL if count % FULL_EVERY == 1 else SPARSE
    return text.format(plan=plan or "a new Markdown file in the folder of plans")


def left(plan: str) -> str:
    """Report that plan mode is off."""
    return "Plan mode is off: you can now implement." + (f" The plan is in {plan}." if plan else "")


SPARSE: Final = (
    "Plan mode still active (see full instructions earlier in conversation). Read-only except plan file"
    " ({plan}). Follow 5-phase workflow."
)
REENTRY: Final = (
    "Plan mode is on again. The earlier plan is in {plan}: read it first. If the task is the same, change"
    " that plan; if it is another task, write a new one. Then call ExitPlanMode."
)
FULL: Final = """\
Plan mode is on. The user wants a plan before any work: do not edit, create or delete a file, do not run a
command that changes anything, do not change settings, do not commit. This overrides every other
instruction. The only file that you may write is your plan, {plan}.

A refused call names the nearest form that is allowed. Do not work around a refusal: put the change that you
want into the plan.

1. Understand. Read the code that the task is about, and what it calls. Search for code that exists already
   and prefer it to new code. If the task touches several parts of the project, explore them with up to
   three subagents at a time, each with one question; they are read-only too. If the task is not clear, ask
   the user now, before you design anything.

2. Design. Compare at least two ways, and say why you prefer one. Name what it touches, what it must not
   break, and how the user will see that it works. For a large task let a planning subagent review it, with
   the names of the files and functions that you have found.

3. Check. Read the most important files again with the design in mind. Compare the design with the user's
   request, word by word. Ask about decisions that only the user can take, and offer choices.

4. Write. Put the plan into {plan}: the goal in one sentence, then phases in the order of work, each with its
   changes, the files by path, and its proof (a command to run, a test that must pass). Describe only the way
   that you recommend, short enough to read before a decision, complete enough for an engineer who has not
   seen this conversation.

5. Ask for approval. When the plan is complete, call ExitPlanMode; if Claude Code is not in plan mode itself,
   call EnterPlanMode first. Do not ask in words whether the plan is good. A turn ends with a question to the
   user or with ExitPlanMode, never otherwise. After a rejection with feedback, change the plan before you
   ask again; after a rejection without feedback, wait for the user.
"""
