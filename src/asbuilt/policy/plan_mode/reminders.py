"""Notices for an agent about plan mode, and which reminders are full. Pure. The texts are asbuilt's own.

Rule: the count that decides between full and sparse includes the reminder that is about to be sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

TURNS_BETWEEN: Final = 5
"""Prompts of a person from one reminder to the next."""
FULL_EVERY: Final = 5

Kind = Literal["plan_mode", "plan_mode_reentry", "plan_mode_exit", "auto_unavailable"]


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice for the agent."""

    kind: Kind
    full: bool = False
    reason: str = ""


def reminder(count: int) -> Notice:
    """Choose the form of a reminder by its number since plan mode was last left: 1st, 6th, 11th full."""
    return Notice("plan_mode", full=count % FULL_EVERY == 1)


def words(notice: Notice, *, plan: str) -> str:
    """Return the text of a notice; `plan` is the plan file."""
    match notice.kind:
        case "plan_mode" if notice.full:
            return FULL.format(plan=plan)
        case "plan_mode":
            return SPARSE.format(plan=plan)
        case "plan_mode_reentry":
            return REENTRY.format(plan=plan)
        case "plan_mode_exit":
            return EXIT.format(plan=plan)
        case "auto_unavailable":
            return f"plan exit -> default · auto mode unavailable: {notice.reason}"


SPARSE: Final = (
    "Plan mode still active (see full instructions earlier in conversation). Read-only except plan file"
    " ({plan}). Follow 5-phase workflow."
)
REENTRY: Final = (
    "Plan mode is active again. A plan of before is in {plan}: read it first. If the task is the same, change"
    " that plan; if it is another, write over it. Then ask to leave plan mode."
)
EXIT: Final = "Plan mode is over: you can now implement. The plan is in {plan}."
FULL: Final = """\
Plan mode is active. The person wants a plan, and nothing done yet: do not edit, create or delete a file,
do not run a command that changes anything, do not change settings, do not commit. This stands above
whatever else you were told. The one file that you may write is your plan, {plan}.

What refuses a call tells you the nearest form that is allowed. Do not look for a way around it: what you
want to change belongs into the plan.

1. Understand. Read the code that the task is about, and what it calls. Search for what exists already,
   and use that before you think of something new. Where several parts of the project are touched, look at
   them with up to three subagents at a time, each with one question; they are read-only as you are. If
   the task itself is not clear, ask the person now, not after you have designed something.

2. Design. Think of more than one way, and say why you prefer one. Name what it touches, what it must not
   break, and how somebody will see that it works. For a large task have it thought over by a subagent
   that plans, with the names of the files and functions that you have found.

3. Check. Read the most important files again, yourself, with the design in mind. Compare it with what the
   person has asked for, word by word. Ask them about whatever only they can decide, and give them the
   choices.

4. Write. Put the plan into {plan}: the goal in a sentence, then phases in the order of work, each with
   what is done in it, the files by their paths, and how it is proven (a command to run, a test that must
   pass). Only the way that you recommend, short enough to be read before a decision, whole enough to be
   worked from by somebody who has not seen this conversation.

5. Ask to leave. When the plan is whole, call ExitPlanMode: that is how it is approved. Do not ask in
   words whether the plan is good. A turn ends with a question to the person, or with ExitPlanMode, and
   with nothing else. If the plan is rejected with words, change it before you ask again; if it is
   rejected without, wait for the person.
"""
