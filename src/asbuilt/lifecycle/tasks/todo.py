"""Read and write `TODO.md` by lines.

Rule: only status marks and links are changed; all other text stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from asbuilt.lifecycle.tasks.statuses import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from asbuilt.lifecycle.tasks.model import Task

PLACES: Final = ("specs/TODO.md", "TODO.md")
"""Paths to search; a new file is written to the first."""
LINKS: Final = {"research": "Research", "plan": "Plan"}
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*)")
_ENTRY: Final = re.compile(r"([1-9][0-9]*)\.\s+\S")
_STATUS: Final = re.compile(r"(\s*[-*]\s+\*\*Status\*\*:\s*)\[([^\]]*)\]")
_LINK: Final = re.compile(r"\s*[-*]\s+\*\*([A-Z][a-z]+)\*\*:(.*)")
_BELOW: Final = re.compile(r"\s+[-*]\s+\S")
_TARGET: Final = re.compile(r"\[([^\]]*)\](?:\(([^)]*)\))?")
_BULLET: Final = re.compile(r"\s*(?:[-*+]|[0-9]+[.)])\s+")
_MARK: Final = re.compile(r"\[([A-Z][A-Z _]*)\]")
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_LEVEL: Final = 3
_ORDER: Final = "task order"
_TASKS: Final = "tasks"
_BLANK: Final = "# TODO\n\n## Task Order\n\n## Tasks\n"


@dataclass(slots=True)
class Entry:
    """Entry of one task, with its lines."""

    heading: int
    title: str = ""
    status: Status | None = None
    status_line: int | None = None
    links: dict[str, tuple[int, int, list[str]]] = field(default_factory=dict)
    """For each type of artifact: its first line, the line after it, and the paths."""


@dataclass(slots=True)
class Todo:
    """A parsed `TODO.md`."""

    lines: list[str]
    entries: dict[int, Entry] = field(default_factory=dict)
    order: dict[int, tuple[int, Status]] = field(default_factory=dict)
    """For each task in the Task Order section: its line and its mark."""
    order_end: int | None = None
    """The line after the end of that section; None: there is no such section."""
    tasks_at: int | None = None
    """The line of the heading for new tasks."""

    def statuses(self) -> dict[int, Status]:
        """Return the status of every task that has one."""
        return {number: one.status for number, one in self.entries.items() if one.status is not None}

    def paths(self, number: int, kind: str) -> list[str]:
        """Return the artifacts of a type that a task links."""
        entry = self.entries.get(number)
        return entry.links[kind][2] if entry and kind in entry.links else []


def read_todo(data: bytes | None) -> Todo:
    """Parse a `TODO.md`; None: the file does not exist."""
    text = _BLANK if data is None else data.decode("utf-8", "surrogateescape")
    todo = Todo(text.split("\n"))
    section, entry = "", None
    for at, line in _outside_code(todo.lines):
        heading = _HEADING.match(line)
        if heading:
            section, entry = _headed(todo, at, heading, section)
        elif section == _ORDER:
            _hear_order(todo, at, line)
        elif entry is not None:
            _hear_entry(todo, entry, at, line)
    return todo


def put_todo(data: bytes | None, tasks: Mapping[int, Task]) -> bytes:
    """Write tasks into a `TODO.md`; without a difference, return the same bytes."""
    todo = read_todo(data)
    end = "\r" if any(line.endswith("\r") for line in todo.lines) else ""
    edits: list[tuple[int, int, list[str]]] = []
    for number, task in tasks.items():
        entry = todo.entries.get(number)
        if entry is not None:
            edits += _mended(todo, entry, task, end)
        if number in todo.order and todo.order[number][1] is not task.status:
            at = todo.order[number][0]
            edits.append((at, at + 1, [_remarked(todo.lines[at], task.status)]))
    edits += _added(todo, [task for number, task in tasks.items() if number not in todo.entries], end)
    lines = list(todo.lines)
    for start, stop, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        lines[start:stop] = new
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _outside_code(lines: list[str]) -> Iterator[tuple[int, str]]:
    fence = ""
    for at, line in enumerate(lines):
        found = _FENCE.match(line)
        if not fence and found:
            fence = found[1]
        elif fence:
            if found and found[1].startswith(fence) and line.strip() == found[1]:
                fence = ""
        else:
            yield at, line


def _headed(todo: Todo, at: int, heading: re.Match[str], section: str) -> tuple[str, Entry | None]:
    level, text = len(heading[1]), heading[2].strip()
    if level < _LEVEL:
        section = text.casefold()
        if section == _ORDER and todo.order_end is None:
            todo.order_end = at + 1
        elif section == _TASKS and todo.tasks_at is None:
            todo.tasks_at = at
        return section, None
    numbered = _ENTRY.match(text) if level == _LEVEL else None
    if numbered is None or int(numbered[1]) in todo.entries:
        return section, None
    entry = Entry(at, text.partition(".")[2].strip())
    todo.entries[int(numbered[1])] = entry
    return section, entry


def _hear_order(todo: Todo, at: int, line: str) -> None:
    bullet = _BULLET.match(line)
    number = re.search(r"[1-9][0-9]*", line[bullet.end() :]) if bullet else None
    marks = [one for one in _MARK.findall(line) if Status.named(one)]
    if line.strip():
        todo.order_end = at + 1
    if number is not None and len(marks) == 1:
        status = Status.named(marks[0])
        if status is not None:
            todo.order.setdefault(int(number[0]), (at, status))


def _hear_entry(todo: Todo, entry: Entry, at: int, line: str) -> None:
    status = _STATUS.match(line)
    if status is not None and entry.status_line is None:
        entry.status, entry.status_line = Status.named(status[2]), at
        return
    link = _LINK.match(line)
    kind = next((kind for kind, name in LINKS.items() if link and name == link[1]), None)
    if link is None or kind is None or kind in entry.links:
        return
    stop = at + 1
    while stop < len(todo.lines) and _BELOW.match(todo.lines[stop]):
        stop += 1
    said = "\n".join([link[2], *todo.lines[at + 1 : stop]])
    entry.links[kind] = at, stop, [_rooted(path or text) for text, path in _TARGET.findall(said)]


def _rooted(path: str) -> str:
    """Return a path from the root; some links are relative to `specs`."""
    path = path.strip().strip("`")
    return path if path.startswith("specs/") else f"specs/{path.removeprefix('./')}"


def _mended(todo: Todo, entry: Entry, task: Task, end: str) -> list[tuple[int, int, list[str]]]:
    edits: list[tuple[int, int, list[str]]] = []
    behind = entry.heading + 1
    if entry.status_line is None:
        edits.append((behind, behind, [f"- **Status**: {task.status.mark}{end}"]))
    else:
        behind = entry.status_line + 1
        if entry.status is not task.status:
            line = _STATUS.sub(lambda found: found[1] + task.status.mark, todo.lines[entry.status_line], 1)
            edits.append((entry.status_line, behind, [line]))
    for kind in LINKS:
        paths = [_rooted(one.path) for one in task.of_type(kind)]
        start, stop, there = entry.links.get(kind, (behind, behind, []))
        if paths != there:
            edits.append((start, stop, [_link(task, kind) + end] if paths else []))
    return edits


def _link(task: Task, kind: str) -> str:
    shown = ", ".join(f"[{one.path.rpartition('/')[2]}]({one.path})" for one in task.of_type(kind))
    return f"- **{LINKS[kind]}**: {shown}"


def _remarked(line: str, status: Status) -> str:
    found = next(one for one in _MARK.finditer(line) if Status.named(one[1]))
    return line[: found.start()] + status.mark + line[found.end() :]


def _title(task: Task) -> str:
    words = task.slug.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _added(todo: Todo, tasks: list[Task], end: str) -> list[tuple[int, int, list[str]]]:
    """Add new tasks: the newest first under Tasks, and each to the Task Order section."""
    if not tasks:
        return []
    edits: list[tuple[int, int, list[str]]] = []
    new = [task for task in tasks if task.number not in todo.order]
    if todo.order_end is not None and new:
        rows = [f"- **{task.number}** {task.status.mark} {_title(task)}{end}" for task in new]
        above = [] if _BULLET.match(todo.lines[todo.order_end - 1]) else [end]
        edits.append((todo.order_end, todo.order_end, [*above, *rows]))
    blocks = [line for task in reversed(tasks) for line in _block(task, end)]
    if todo.tasks_at is None:
        last = len(todo.lines) - (todo.lines[-1] == "")
        edits.append((last, last, [end, f"## Tasks{end}", *blocks]))
    else:
        edits.append((todo.tasks_at + 1, todo.tasks_at + 1, blocks))
    return edits


def _block(task: Task, end: str) -> list[str]:
    links = [_link(task, kind) for kind in LINKS if task.of_type(kind)]
    # One paragraph: a line of the description that looks like ours would be parsed as ours.
    words = " ".join(task.description.split())
    lines = [
        "", f"### {task.number}. {_title(task)}", f"- **Status**: {task.status.mark}",
        f"- **Task Type**: {task.kind}", *links, "", f"**Description**: {words}",
    ]  # fmt: skip
    return [line + end for line in lines]
