"""Numbers of tasks as typed; numbers and paths of a task's artifacts.

Research starts a round; a plan belongs to the current round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from asbuilt.errors import UsageWrong
from asbuilt.lifecycle.tasks.statuses import PLAN, RESEARCH

if TYPE_CHECKING:
    from asbuilt.lifecycle.tasks.model import Task

FOLDERS: Final = {PLAN: "plans", RESEARCH: "reports"}
ROADMAP: Final = "specs/ROADMAP.md"
_MOST: Final = 200
"""Maximum number of tasks per command."""
_SHORT: Final = 32
_NUMBERS: Final = re.compile(r"#?([1-9][0-9]{0,5})(?:\s*-\s*#?([1-9][0-9]{0,5}))?", re.ASCII)


def numbers_in(words: Iterable[str]) -> list[int]:
    """Parse task numbers: `7, 22-24, 59`; each once, in the given order."""
    named: dict[int, None] = {}
    for part in filter(None, re.split(r"[,\s]+", re.sub(r"\s*-\s*", "-", " ".join(words)))):
        found = _NUMBERS.fullmatch(part)
        first = int(found[1]) if found else 0
        last = int(found[2] or first) if found else 0
        if not found or last < first or last - first >= _MOST:
            raise UsageWrong(
                f'"{part}" names no tasks',
                why=f"Tasks are named by number, at most {_MOST} at once.",
                next_step="`asbuilt task list` lists them; several are written as 7, 22-24, 59.",
            )
        named |= dict.fromkeys(range(first, last + 1))
    return list(named)


def artifact_number(task: Task, operation: str, files: Iterable[str]) -> int:
    """Return a new artifact's number: of the next round for research, of the last for a plan."""
    if task.next_artifact is None:
        return len(written(task, operation, files)) + 1
    return task.next_artifact if operation == RESEARCH else max(1, task.next_artifact - 1)


def artifact_path(task: Task, operation: str, number: int) -> str:
    """Return the path of an artifact: `specs/007_add_limits/plans/01_add-limits.md`."""
    short = task.slug.replace("_", "-")
    if len(short) > _SHORT:
        short = short[: _SHORT + 1].rpartition("-")[0] or short[:_SHORT]
    return f"{task.folder}/{FOLDERS[operation]}/{number:02d}_{short}.md"


def written(task: Task, operation: str, files: Iterable[str]) -> list[str]:
    """List the artifacts of a kind in a task's folder, the latest last: `9` comes before `10`."""
    folder = f"{task.folder}/{FOLDERS[operation]}/"
    found = (file for file in files if file.startswith(folder) and file.endswith(".md"))
    return sorted((path for path in found if "/" not in path[len(folder) :]), key=_natural)


def _natural(path: str) -> list[tuple[int, Any]]:
    parts = re.split(r"([0-9]+)", path)
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts if part]
