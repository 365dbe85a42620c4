"""Show the questions that an agent asks while it plans, and why typed words are no answer to a question."""

from __future__ import annotations

import re
from shlex import quote
from typing import Final

from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.errors import UsageWrong
from asbuilt.journal.approvals import Approval
from asbuilt.lifecycle.authoring.questions import options_of
from asbuilt.lifecycle.replies import Doubt

DOUBTS: Final[dict[Doubt, str]] = {
    "empty": "it has no words",
    "condition": "it says yes, and adds a condition",
    "refusal": 'it starts with a refusal, and says more than no; a reason stands behind a comma: "no, …"',
    "question": "it asks something back",
    "letter": "no option has this letter",
    "other": "it is neither a yes nor a no",
}
_PLAIN: Final = re.compile(r"[^`\x00-\x1f]{1,60}")


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


def unclear(name: str, asked: Approval | None, words: str, reason: Doubt) -> UsageWrong:
    """Return the refusal of words that are no answer, with a command for each reading."""
    if asked is not None and reason == "letter":
        letters = ", ".join(options_of(asked.question))
        return UsageWrong(
            f"{name} has no option {words.strip()}: {letters}",
            why="A single letter means one of the options.",
            next_step=f"`asbuilt approve show {name}`",
        )
    note = as_typed(words)
    readings = f"`asbuilt approve no {name} -m {note}`, or `asbuilt approve yes {name} -m {note}`"
    if reason == "other":  # a command with an answer could be the opposite of what was meant
        readings = (
            f"`asbuilt approve show {name}`, or answer with the word yes or no: `asbuilt approve yes {name}`"
        )
    is_open = asked is not None and asked.kind == "question"
    return UsageWrong(
        f'"{words}" is no answer to {name}: {DOUBTS[reason]}',
        why="An answer is recorded with your name, so asbuilt does not guess it. Nothing was recorded.",
        next_step=f"`asbuilt approve show {name}`" if is_open else readings,
    )


def as_typed(note: str) -> str:
    """Return a note as it is typed in a command; a long one, or one that a row cannot show, as a stand-in."""
    return quote(note) if _PLAIN.fullmatch(note) else '"why"'
