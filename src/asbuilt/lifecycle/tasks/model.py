"""Model of a task. A change is a mapping of some of its fields."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.errors import GateStopped, NotFound, UsageWrong
from asbuilt.lifecycle.tasks.statuses import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

GENERAL: Final = "general"
"""Kind of a task without a given kind."""
LONGEST: Final = 4_000
"""Maximum number of characters of a description."""
MOST: Final = 200
"""Maximum number of tasks per command."""
_SLUG: Final = 50
_NUMBERS: Final = re.compile(r"#?([1-9][0-9]{0,5})(?:\s*-\s*#?([1-9][0-9]{0,5}))?", re.ASCII)


class Artifact(NamedTuple):
    """A file that was written for a task."""

    type: str
    path: str
    summary: str = ""
    more: Mapping[str, Any] = {}
    """Other fields of an imported record."""


class Pending(NamedTuple):
    """Unfinished work on a task; its run finishes it."""

    session: str
    run: str
    operation: str
    reason: str
    created: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A numbered unit of wanted work."""

    number: int
    slug: str
    kind: str = GENERAL
    status: Status = Status.NOT_STARTED
    description: str = ""
    artifacts: tuple[Artifact, ...] = ()
    next_artifact: int | None = 1
    """The next round of research; None: an imported task without a counter."""
    session: str = ""
    """The last session that worked on it."""
    created: str = ""
    updated: str = ""
    pending: Pending | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of an imported record."""

    @property
    def folder(self) -> str:
        """Folder of its artifacts."""
        return f"specs/{self.number:03d}_{self.slug}"

    def of_type(self, kind: str) -> list[Artifact]:
        """List its artifacts of a type, the newest last."""
        return [one for one in self.artifacts if one.type == kind]


def plain(task: Task) -> dict[str, Any]:
    """Return all fields of a task as JSON values."""
    return plain_fields({one.name: getattr(task, one.name) for one in fields(task)})


def plain_fields(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return some fields of a task as JSON values."""
    told = dict(changes)
    if "artifacts" in told:
        told["artifacts"] = [{**one._asdict(), "more": dict(one.more)} for one in told["artifacts"]]
    if told.get("pending") is not None:
        told["pending"] = told["pending"]._asdict()
    if "more" in told:
        told["more"] = dict(told["more"])
    return told


def read_task(data: Mapping[str, Any]) -> Task:
    """Build a task from all its fields."""
    return changed(Task(number=int(data["number"]), slug=str(data["slug"])), data)


def changed(task: Task, data: Mapping[str, Any]) -> Task:
    """Apply a change to a task; unknown fields of later versions are ignored."""
    told = {name: value for name, value in data.items() if name in _FIELDS}
    if "status" in told:
        told["status"] = Status(told["status"])
    if "artifacts" in told:
        told["artifacts"] = tuple(Artifact(**one) for one in told["artifacts"])
    if told.get("pending") is not None:
        told["pending"] = Pending(**told["pending"])
    return replace(task, **told)


_FIELDS: Final = frozenset(one.name for one in fields(Task))


def fold(events: Iterable[tuple[int, Mapping[str, Any]]]) -> dict[int, Task]:
    """Fold changes, in order, into the current tasks; each change has its task's number."""
    tasks: dict[int, Task] = {}
    for number, data in events:
        known = tasks.get(number)
        if known is not None:
            tasks[number] = changed(known, data)
        elif "slug" in data:
            tasks[number] = read_task({**data, "number": number})
    return dict(sorted(tasks.items()))


def moved(task: Task, to: Status) -> dict[str, Any] | None:
    """Return the change when a user sets a task's status; None if it has that status.

    A terminal task must be reopened first, so that no run works on it by accident.
    """
    if task.status is to:
        return None
    if task.status.is_terminal and to is not Status.NOT_STARTED:
        raise GateStopped(
            f"task {task.number} is in the terminal state {task.status.mark}",
            why="What is completed or abandoned is not worked on any more.",
            next_step=f"Open it again first: `asbuilt task status {task.number} not_started`",
        )
    return {"status": to}


def the_task(tasks: Mapping[int, Task], number: int) -> Task:
    """Return a task by its number; raise `NotFound` if there is none."""
    task = tasks.get(number)
    if task is None:
        raise NotFound(
            f"Task {number} not found",
            why="No task of this repository has that number.",
            next_step="`asbuilt task list --all` shows them; `asbuilt task import` takes those of a file.",
        )
    return task


def workable(tasks: Mapping[int, Task], number: int) -> Task:
    """Return a task that may be worked on; raise `GateStopped` if it is terminal."""
    task = the_task(tasks, number)
    if task.status.is_terminal:
        raise GateStopped(
            f"Task is in terminal state [{task.status}]: task {number}",
            why="What is completed or abandoned is not planned any more.",
            next_step=f"Open it again first: `asbuilt task status {number} not_started`",
        )
    return task


def slug_for(text: str) -> str:
    """Return a slug of a text: `add_rate_limiting`."""
    words = re.findall(r"[a-z0-9]+", text.lower().replace("'", ""))
    slug = "_".join(words)
    if len(slug) <= _SLUG:
        return slug or "task"
    return slug[: _SLUG + 1].rpartition("_")[0] or slug[:_SLUG]


def numbers_in(words: Iterable[str]) -> list[int]:
    """Parse task numbers: `7, 22-24, 59`; each once, in the given order."""
    named: dict[int, None] = {}
    for part in filter(None, re.split(r"[,\s]+", re.sub(r"\s*-\s*", "-", " ".join(words)))):
        found = _NUMBERS.fullmatch(part)
        first = int(found[1]) if found else 0
        last = int(found[2] or first) if found else 0
        if not found or last < first or last - first >= MOST:
            raise UsageWrong(
                f'"{part}" names no tasks',
                why=f"Tasks are named by number, at most {MOST} at once.",
                next_step="For example: `asbuilt task plan 7, 22-24, 59`",
            )
        named |= dict.fromkeys(range(first, last + 1))
    return list(named)
