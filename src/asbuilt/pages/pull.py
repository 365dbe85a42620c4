"""What asbuilt writes into a pull request and a linked issue. Pure.

Its one rule: in a body only what stands between our two marks is ours; every other character stays as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from asbuilt.pages.markdown import code, escaped
from asbuilt.policy.masking import masked

if TYPE_CHECKING:
    from collections.abc import Sequence

START: Final = "<!-- asbuilt:progress:start -->"
END: Final = "<!-- asbuilt:progress:end -->"
_MARKS: Final = re.compile(
    r"^[ \t]*<!-- (?P<by>asbuilt|run-plan):progress:(?P<side>start|end) -->[ \t]*\r?$", re.MULTILINE
)
_TITLE: Final = 240
"""GitHub takes 256 characters."""
_BLOCK: Final = 20_000
"""GitHub takes 65,536 characters in all."""
_HASH: Final = 10


class Step(NamedTuple):
    """One phase of the plan, as far as it has come."""

    id: str
    title: str
    commit: str | None
    """Its proven commit on the branch; None: it is open."""


def title(slug: str, plan: str, *, phase: Step | None = None) -> str:
    """Name a pull request: by its plan, or by the one phase that it brings."""
    name = plan if phase is None else f"Phase {phase.id}: {phase.title}"
    words = " ".join(masked(f"[{slug}] {name}").split())
    return words if len(words) <= _TITLE else f"{words[: _TITLE - 1]}…"


def progress(steps: Sequence[Step], *, plan: str, run: str) -> str:
    """Say how far a plan is, for between the marks. The same facts give the same text."""
    done = sum(step.commit is not None for step in steps)
    lines = [f"{done} of {len(steps)} phases proven: {code(plan)}, run {code(run)}.", ""]
    lines += [_row(step) for step in steps]
    lines += ["", "Written by asbuilt: done means proven, not said. Edits between the marks are overwritten."]
    text = masked("\n".join(lines))
    if len(text) <= _BLOCK:
        return text
    return f"{text[:_BLOCK].rpartition(chr(10))[0]}\n\nThe list is longer than fits here."


def with_progress(body: str, block: str) -> str:
    """Put the block between its marks, or at the end where there are none yet.

    Marks count on lines of their own, an end with the nearest start above it: a start that was left alone
    claims nothing. A body with the older marks of `run-plan` keeps those.
    """
    for by in ("asbuilt", "run-plan"):
        place = _between(body, by)
        if place is not None:
            start, end = place
            return f"{body[:start]}\n{block}\n{body[end:]}"
    apart = "" if not body or body.endswith("\n\n") else "\n" if body.endswith("\n") else "\n\n"
    return f"{body}{apart}{START}\n{block}\n{END}\n"


def closing(mark: str, *, plan: str, phases: int, commits: Sequence[str], pull: str = "") -> str:
    """Say to a linked issue that its plan has landed; the mark is found again before it is said twice."""
    landed = ", ".join(code(commit[:_HASH]) for commit in commits)
    by = f" by {pull}" if pull else ""
    counted = "1 phase" if phases == 1 else f"{phases} phases"
    return masked(f"{code(plan)} has landed{by}: {counted}, commits {landed}.") + f"\n\n{mark}"


def mark_for(plan: str) -> str:
    """Give the mark of a plan's word to an issue: the same however often and by whomever it is said."""
    # Two dashes would end the comment in some readers.
    return f"<!-- asbuilt:landed:{quote(plan).replace('-', '%2D')} -->"


def _row(step: Step) -> str:
    name = f"Phase {step.id}: {escaped(step.title)}"
    return f"- [ ] {name}" if step.commit is None else f"- [x] {name} ({step.commit[:_HASH]})"


def _between(body: str, by: str) -> tuple[int, int] | None:
    """Find where the text between the first whole pair of marks begins and ends."""
    start: int | None = None
    for found in _MARKS.finditer(body):
        if found["by"] != by:
            continue
        if found["side"] == "start":
            start = found.end()
        elif start is not None:
            return start, found.start()
    return None
