"""Show the questions that an agent asks while it plans, and why typed words are no answer to a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.journal.approvals import Approval

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.replies import Doubt

DOUBTS: Final[dict[Doubt, str]] = {
    "empty": "it has no words",
    "condition": "it says yes, and adds a condition",
    "refusal": "it starts with a refusal, and says more than no",
    "question": "it asks something back",
    "letter": "no option has this letter",
    "other": "it is neither a yes nor a no",
}


def below(pen: Pen, asked: Approval) -> list[str]:
    """Draw the lines of a question below its first line; options get a hanging indent."""
    lines = printable(asked.question, lines=True).split("\n")[1:]
    if asked.kind != "question":
        return [f"    {line}" for line in lines]
    rows = []
    for line in lines:
        letter, gap, option = line.rpartition("  ")
        rows += pen.hanging(f"    {letter}{gap}", option, commands=False)
    return rows
