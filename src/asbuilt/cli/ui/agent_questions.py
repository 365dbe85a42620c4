"""Show the questions that an agent asks while it plans.

Rule: a single letter that names no option is a typing error, not an answer.
"""

from __future__ import annotations

from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.journal.approvals import Approval
from asbuilt.lifecycle.authoring.questions import options_of


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


def is_slip(asked: Approval, word: str) -> bool:
    """Return whether an answer is a single letter that names no option."""
    letter = word.strip().casefold()
    is_letter = len(letter) == 1 and letter.isascii() and letter.isalpha()
    return asked.kind == "question" and is_letter and letter not in options_of(asked.question)
