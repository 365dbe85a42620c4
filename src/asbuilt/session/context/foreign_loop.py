"""A loop that another plugin runs in this conversation: `.claude/ralph-loop.local.md`.

That plugin blocks the end of each turn itself, so asbuilt blocks none. When the context is full or a phase is
over, asbuilt lets the loop end (`max_iterations` = `iteration`) and continues it after the next /clear.

Rule: only these fields of the file change: iteration, max_iterations, session_id.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.session.conversation import put, text_in
from asbuilt.session.prompt_rounds import MOST, Loop

if TYPE_CHECKING:
    from asbuilt.session.plan_facts import PlanFacts

_NAME: Final = "ralph-loop.local.md"
_LEAST: Final = 10
"""Rounds after a /clear of a loop that has no limit."""


class ForeignLoop(NamedTuple):
    """The loop as its file describes it."""

    text: str
    iteration: int
    most: int
    """0: no limit."""

    @property
    def prompt(self) -> str:
        """The prompt as typed, with its line ends."""
        return self.text.split("---\n", 2)[2].strip("\n")

    def saved(self, plan: PlanFacts | None, *, now: float, why: str) -> Loop:
        """Return the record that continues this loop after a /clear."""
        most = min(self.most or self.iteration + _LEAST, MOST)
        path, phase = (plan.path, plan.phase) if plan else ("", "")
        loop = Loop(self.prompt, max(most, self.iteration), self.iteration, "", path, phase, now)
        return loop._replace(is_left=bool(why), why=why, file=self.text)


def foreign_loop_in(root: str) -> ForeignLoop | None:
    """Read the loop of a project; None if there is none or its file is damaged."""
    try:
        text = text_in(f"{root}/.claude", _NAME) or ""
    except (OSError, ValueError):
        return None
    iteration, most = (_number(text, name) for name in ("iteration", "max_iterations"))
    is_sound = iteration is not None and iteration <= MOST and text.count("---\n") > 1
    return ForeignLoop(text, iteration or 0, most or 0) if is_sound else None


def end_foreign_loop(root: str, loop: ForeignLoop) -> None:
    """Make the current round the last one."""
    put(f"{root}/.claude", _NAME, _with(loop.text, max_iterations=str(loop.iteration)))


def continue_foreign_loop(root: str, loop: Loop, session: str) -> None:
    """Write the loop's file again, for the next round and the new session."""
    fields = {"iteration": str(loop.iteration), "max_iterations": str(loop.most), "session_id": session}
    put(f"{root}/.claude", _NAME, _with(loop.file, **fields))


def _number(text: str, name: str) -> int | None:
    found = re.search(rf"^{name}: *(\d{{1,6}}) *$", text.partition("\n---\n")[0], re.MULTILINE)
    return int(found[1]) if found else None


def _with(text: str, **fields: str) -> str:
    head, _, rest = text.partition("\n---\n")
    for name, value in fields.items():
        head = re.sub(rf"^{name}:.*$", f"{name}: {value}", head, flags=re.MULTILINE)
    return f"{head}\n---\n{rest}"
