"""Model of a task, its changes and errors, and the events of its ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, assert_never

from msgspec import UNSET, Struct, UnsetType, field, structs
from msgspec.structs import replace

from asbuilt.errors import NotFound
from asbuilt.lifecycle.tasks.error_record import Failure
from asbuilt.lifecycle.tasks.statuses import Status
from asbuilt.plan.names import new_slug, slugify

GENERAL: Final = "general"
"""Kind of a task without a given kind."""
LONGEST: Final = 4_000
"""Maximum number of characters of a description."""
_SLUG: Final = 50


class Artifact(Struct, frozen=True):
    """A file that was written for a task."""

    type: str
    path: str
    summary: str = ""
    more: dict[str, Any] = field(default_factory=dict)


class Pending(Struct, frozen=True):
    """Unfinished work on a task; its run finishes it."""

    session: str
    run: str
    operation: str
    reason: str
    created: str


class Task(Struct, frozen=True, kw_only=True):
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
    created: str = ""
    updated: str = ""
    pending: Pending | None = None
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Folder of its artifacts."""
        return f"specs/{self.number:03d}_{self.slug}"

    def of_type(self, kind: str) -> list[Artifact]:
        """List its artifacts of a type, the newest last."""
        return [artifact for artifact in self.artifacts if artifact.type == kind]


class Changes(Struct, frozen=True, kw_only=True):
    """New values of some fields of a task."""

    slug: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    description: str | UnsetType = UNSET
    artifacts: tuple[Artifact, ...] | UnsetType = UNSET
    next_artifact: int | UnsetType | None = UNSET
    session: str | UnsetType = UNSET
    updated: str | UnsetType = UNSET
    pending: Pending | UnsetType | None = UNSET
    more: dict[str, Any] | UnsetType = UNSET

    @property
    def named(self) -> dict[str, Any]:
        """The fields that change, with their new values."""
        return {name: value for name, value in structs.asdict(self).items() if value is not UNSET}

    def applied(self, task: Task) -> Task:
        """Return the task after the change."""
        return replace(task, **self.named)


class Added(Struct, frozen=True):
    """A new task."""

    task: Task


class Imported(Struct, frozen=True):
    """A task that was taken from the views, as it is there."""

    task: Task


class Changed(Struct, frozen=True):
    """A change of a task, and the user's reason for it."""

    changes: Changes
    why: str = ""


class Failed(Struct, frozen=True):
    """An error of a task; the task stays as it is."""

    error: Failure


TaskEvent = Added | Imported | Changed | Failed


def fold(events: Iterable[tuple[int, TaskEvent]]) -> dict[int, Task]:
    """Fold events, in order, into the current tasks; each event has its task's number."""
    tasks: dict[int, Task] = {}
    for number, event in events:
        match event:
            case Added(task) | Imported(task):
                tasks[number] = task
            case Changed(changes):
                tasks[number] = changes.applied(tasks[number])
            case Failed():
                pass
            case _:
                assert_never(event)
    return dict(sorted(tasks.items()))


def the_task(tasks: Mapping[int, Task], number: int) -> Task:
    """Return a task by its number; raise `NotFound` if there is none."""
    task = tasks.get(number)
    if task is None:
        raise NotFound(
            f"Task {number} not found",
            why="No task of this repository has that number.",
            next_step="`asbuilt task list --all` lists them.",
        )
    return task


def slug_for(text: str) -> str:
    """Return a slug of a text: `add_rate_limiting`."""
    return _slug(new_slug, text)


def is_slug_of(slug: str, text: str) -> bool:
    """Return whether a slug was made of a text, also by the older spelling, without German letters."""
    return slug in (slug_for(text), _slug(slugify, text))


def _slug(spell: Callable[..., str], text: str) -> str:
    return spell(text.replace("'", ""), limit=_SLUG).replace("-", "_") or "task"
