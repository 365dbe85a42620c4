"""Text that asbuilt writes into a pull request and a linked issue. Pure.

Rule: in a body only the text between the two marks is asbuilt's; every other character stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import quote

from asbuilt.pages.markdown import code, escaped
from asbuilt.policy.masking import masked

START: Final = "<!-- asbuilt:progress:start -->"
END: Final = "<!-- asbuilt:progress:end -->"
_MARKS: Final = re.compile(
    r"^[ \t]*<!-- (?P<by>asbuilt|run-plan):progress:(?P<side>start|end) -->[ \t]*\r?$", re.MULTILINE
)
_TITLE: Final = 240
"""GitHub allows 256 characters."""
_BLOCK: Final = 20_000
"""GitHub allows 65,536 characters for the whole body."""
_HASH: Final = 10


class Step(NamedTuple):
    """One phase of the plan and its progress."""

    id: str
    title: str
    commit: str | None
    """Its proven commit on the branch; None: it is open."""


def title(slug: str, plan: str, *, phase: Step | None = None) -> str:
    """Return the title of a pull request: its plan, or the one phase that it brings."""
    name = plan if phase is None else f"Phase {phase.id}: {phase.title}"
    words = " ".join(masked(f"[{slug}] {name}").split())
    return words if len(words) <= _TITLE else f"{words[: _TITLE - 1]}…"


def progress(steps: Sequence[Step], *, plan: str, run: str) -> str:
    """Return the progress block for between the marks. The same facts give the same text."""
    done = sum(step.commit is not None for step in steps)
    lines = [f"{done} of {len(steps)} phases proven: {code(plan)}, run {code(run)}.", ""]
    lines += [_row(step) for step in steps]
    lines += ["", "Written by asbuilt: done means proven, not said. Edits between the marks are overwritten."]
    text = masked("\n".join(lines))
    if len(text) <= _BLOCK:
        return text
    return f"{text[:_BLOCK].rpartition(chr(10))[0]}\n\nThe list is longer than fits here."


def with_progress(body: str, block: str) -> str:
    """Put the block between its marks, or at the end of a body without marks.

    A mark counts only on a line of its own, and an end mark belongs to the nearest start mark above it. A
    start mark without an end is ignored. A body with the older marks of `run-plan` keeps those.
    """
    for by in ("asbuilt", "run-plan"):
        place = _between(body, by)
        if place is not None:
            start, end = place
            return f"{body[:start]}\n{block}\n{body[end:]}"
    apart = "" if not body or body.endswith("\n\n") else "\n" if body.endswith("\n") else "\n\n"
    return f"{body}{apart}{START}\n{block}\n{END}\n"


def closing(mark: str, *, plan: str, phases: int, commits: Sequence[str], pull: str = "") -> str:
    """Return the comment for a linked issue whose plan has landed; its mark prevents a second comment."""
    landed = ", ".join(code(commit[:_HASH]) for commit in commits)
    by = f" by {pull}" if pull else ""
    counted = "1 phase" if phases == 1 else f"{phases} phases"
    return masked(f"{code(plan)} has landed{by}: {counted}, commits {landed}.") + f"\n\n{mark}"


def mark_for(plan: str) -> str:
    """Return the mark of a plan's comment on an issue; it depends only on the plan."""
    # Two dashes would end the comment in some parsers.
    return f"<!-- asbuilt:landed:{quote(plan).replace('-', '%2D')} -->"


def _row(step: Step) -> str:
    name = f"Phase {step.id}: {escaped(step.title)}"
    return f"- [ ] {name}" if step.commit is None else f"- [x] {name} ({step.commit[:_HASH]})"


def _between(body: str, by: str) -> tuple[int, int] | None:
    """Find the text between the first complete pair of marks: its start and end."""
    start: int | None = None
    for found in _MARKS.finditer(body):
        if found["by"] != by:
            continue
        if found["side"] == "start":
            start = found.end()
        elif start is not None:
            return start, found.start()
    return None
