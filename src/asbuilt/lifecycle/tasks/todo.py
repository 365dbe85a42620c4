"""Read and write `TODO.md` by lines: only status marks and links change; all other text stays.

The two views of a ledger are always written together. Rule: an edit by a user is never overwritten; a command
turns it into an event, or it stays in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import fields, replace

from asbuilt.lifecycle.tasks.model import Task, is_slug_of, slug_for
from asbuilt.lifecycle.tasks.state_json import put_state, read_state
from asbuilt.lifecycle.tasks.statuses import Status

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
_TITLE: Final = 20
"""Most words of a title."""
_ORDER: Final = "task order"
_TASKS: Final = "tasks"
_BLANK: Final = "# TODO\n\n## Task Order\n\n## Tasks\n"


class Entry(Struct):
    """Entry of one task, with its lines."""

    heading: int
    title: str = ""
    status: Status | None = None
    status_line: int | None = None
    links: dict[str, tuple[int, int, list[str]]] = field(default_factory=dict)
    """For each type of artifact: its first line, the line after it, and the paths."""


class Todo(Struct):
    """A parsed `TODO.md`."""

    lines: list[str]
    folder: str
    """The folder that links are relative to: `specs/`, or `/` for the root."""
    entries: dict[int, Entry] = field(default_factory=dict)
    order: dict[int, tuple[int, Status]] = field(default_factory=dict)
    """For each task in the Task Order section: its line and its mark."""
    order_end: int | None = None
    """The line after the end of that section; None: there is no such section."""
    tasks_at: int | None = None
    """The line of the heading for new tasks."""

    def statuses(self) -> dict[int, Status]:
        """Return the status of every task that has one."""
        return {number: entry.status for number, entry in self.entries.items() if entry.status is not None}

    def paths(self, number: int, kind: str) -> list[str]:
        """Return the artifacts of a type that a task links."""
        entry = self.entries.get(number)
        return entry.links[kind][2] if entry and kind in entry.links else []


def read_todo(data: bytes | None, place: str = PLACES[0]) -> Todo:
    """Parse a `TODO.md`; None: the file does not exist."""
    text = _BLANK if data is None else data.decode("utf-8", "surrogateescape")
    todo = Todo(text.split("\n"), folder=f"{place.rpartition('/')[0]}/")
    section, entry = "", None
    for at, line in _outside_code(todo.lines):
        heading = _HEADING.match(line)
        if heading:
            section, entry = _headed(todo, at, heading, section)
        elif section == _ORDER:
            _parse_order(todo, at, line)
        elif entry is not None:
            _parse_entry(todo, entry, at, line)
    return todo


def put_todo(data: bytes | None, tasks: Mapping[int, Task], place: str = PLACES[0]) -> bytes:
    """Write tasks into the `TODO.md` at `place`; without a difference, return the same bytes."""
    todo = read_todo(data, place)
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


def _parse_order(todo: Todo, at: int, line: str) -> None:
    bullet = _BULLET.match(line)
    number = re.search(r"[1-9][0-9]*", line[bullet.end() :]) if bullet else None
    marks = [mark for mark in _MARK.findall(line) if Status.named(mark)]
    if line.strip():
        todo.order_end = at + 1
    if number is not None and len(marks) == 1:
        status = Status.named(marks[0])
        if status is not None:
            todo.order.setdefault(int(number[0]), (at, status))


def _parse_entry(todo: Todo, entry: Entry, at: int, line: str) -> None:
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
    target = "\n".join([link[2], *todo.lines[at + 1 : stop]])
    entry.links[kind] = at, stop, [_rooted(path or text) for text, path in _TARGET.findall(target)]


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
        paths = [_rooted(file.path) for file in task.of_type(kind)]
        start, stop, there = entry.links.get(kind, (behind, behind, []))
        if paths != there:
            edits.append((start, stop, [_link(todo, task, kind) + end] if paths else []))
    return edits


def _link(todo: Todo, task: Task, kind: str) -> str:
    paths = [file.path.removeprefix(todo.folder) for file in task.of_type(kind)]
    shown = ", ".join(f"[{path.rpartition('/')[2]}]({path})" for path in paths)
    return f"- **{LINKS[kind]}**: {shown}"


def _remarked(line: str, status: Status) -> str:
    found = next(match for match in _MARK.finditer(line) if Status.named(match[1]))
    return line[: found.start()] + status.mark + line[found.end() :]


def _title(task: Task) -> str:
    """Return the first words of the description that the slug is made of, or else the slug's words."""
    written = re.sub(r"[\[\]]", "", task.description).split()[:_TITLE]
    heads = (" ".join(written[:count]).rstrip(".,:;") for count in range(1, len(written) + 1))
    words = next((head for head in heads if is_slug_of(task.slug, head)), task.slug.replace("_", " ").strip())
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
    blocks = [line for task in reversed(tasks) for line in _block(todo, task, end)]
    if todo.tasks_at is None:
        last = len(todo.lines) - (todo.lines[-1] == "")
        edits.append((last, last, [end, f"## Tasks{end}", *blocks]))
    else:
        edits.append((todo.tasks_at + 1, todo.tasks_at + 1, blocks))
    return edits


def _block(todo: Todo, task: Task, end: str) -> list[str]:
    links = [_link(todo, task, kind) for kind in LINKS if task.of_type(kind)]
    # One paragraph: a line of the description that looks like ours would be parsed as ours.
    words = " ".join(task.description.split())
    lines = [
        "", f"### {task.number}. {_title(task)}", f"- **Status**: {task.status.mark}",
        f"- **Task Type**: {task.kind}", *links, "", f"**Description**: {words}",
    ]  # fmt: skip
    return [line + end for line in lines]


class Pair(NamedTuple):
    """Bytes of both files; None: the file does not exist."""

    state: bytes | None
    todo: bytes | None


class Difference(NamedTuple):
    """A difference between a view and the ledger."""

    number: int
    what: str
    view: str
    ledger: str

    @property
    def words(self) -> str:
        """Describe it in one line."""
        return f"task {self.number}: {self.what} is {self.view} there, {self.ledger} in the ledger"


def render(
    pair: Pair, tasks: Mapping[int, Task], *, next_number: int, seq: int, place: str = PLACES[0]
) -> Pair:
    """Update both views from the ledger; all other text stays. `place` is the path of `TODO.md`."""
    state = put_state(pair.state, tasks, next_number=next_number, seq=seq)
    return Pair(state, put_todo(pair.todo, tasks, place))


def agree(pair: Pair) -> list[str]:
    """Return the contradictions between the two views; empty if there are none."""
    state, todo = read_state(pair.state), read_todo(pair.todo)
    differences = []
    for number, task in state.tasks.items():
        listed = todo.statuses().get(number)
        if listed is not task.status:
            mark = listed.mark if listed else "nothing"
            differences.append(f"task {number}: {mark} in TODO.md, {task.status.mark} in state.json")
        if number in todo.order and todo.order[number][1] is not task.status:
            mark = todo.order[number][1].mark
            differences.append(
                f"task {number}: {mark} in the order of tasks, {task.status.mark} in state.json"
            )
        for kind in LINKS:
            paths = [file.path for file in task.of_type(kind)]
            if todo.paths(number, kind) != paths:
                differences.append(f"task {number}: its {kind} differs")
    differences += [
        f"task {number} is only in TODO.md" for number in todo.entries if number not in state.tasks
    ]
    return differences


def by_hand(pair: Pair, tasks: Mapping[int, Task], shown: Sequence[Mapping[int, Task]]) -> list[Difference]:
    """List the users' edits: values that are neither current nor in `shown`, which asbuilt saw before."""
    state, todo = read_state(pair.state), read_todo(pair.todo)
    found: dict[int, Difference] = {}
    statuses = [*((number, task.status) for number, task in state.tasks.items()), *_statuses(todo)]
    for number, status in statuses:
        if number in tasks and status not in _known(number, [tasks, *shown]):
            mark = tasks[number].status.mark
            found[number] = Difference(number, "its status", status.mark, mark)
    for number in {**state.tasks, **todo.entries}:
        if number not in tasks:
            found[number] = Difference(number, "it", "there", "not")
    return list(found.values())


def taken(pair: Pair, tasks: Mapping[int, Task], shown: Sequence[Mapping[int, Task]]) -> dict[int, Task]:
    """Return the tasks that change when the users' edits in the views are applied, field by field.

    A value that was shown before is no edit: the ledger's value stays. For a new task `state.json` decides;
    for a known task `TODO.md` decides its status.
    """
    state, todo = read_state(pair.state), read_todo(pair.todo)
    found = {}
    for number, task in state.tasks.items():
        before = [table[number] for table in (tasks, *shown) if number in table]
        found[number] = _merged(task, before) if number in tasks else task
    for number, entry in todo.entries.items():
        if number not in found and number not in tasks:
            slug, status = slug_for(entry.title), entry.status or Status.NOT_STARTED
            found[number] = Task(number=number, slug=slug, description=entry.title, status=status)
    for number, status in _statuses(todo):
        if number in tasks and status not in _known(number, [tasks, *shown]):
            found[number] = replace(found.get(number, tasks[number]), status=status)
    return {number: task for number, task in sorted(found.items()) if tasks.get(number) != task}


def _statuses(todo: Todo) -> list[tuple[int, Status]]:
    """List the marks of a `TODO.md`; an entry's mark follows its mark in the Task Order section."""
    return [*((number, status) for number, (_, status) in todo.order.items()), *todo.statuses().items()]


def _known(number: int, times: Sequence[Mapping[int, Task]]) -> set[Status]:
    return {table[number].status for table in times if number in table}


def _merged(theirs: Task, before: Sequence[Task]) -> Task:
    """Apply the values that no earlier version has; the first of `before` is the current task."""
    edited = {
        member.name: getattr(theirs, member.name) for member in fields(theirs) if member.name != "pending"
    }
    new = {
        name: value for name, value in edited.items() if all(value != getattr(task, name) for task in before)
    }
    return replace(before[0], **new)
