"""The two views of a ledger, always written together, and edits that users made in them.

Rule: an edit by a user is never overwritten; a command turns it into an event, or it stays in the file.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.lifecycle.tasks.model import Task, slug_for
from asbuilt.lifecycle.tasks.state_json import put_state, read_state
from asbuilt.lifecycle.tasks.statuses import Status
from asbuilt.lifecycle.tasks.todo import LINKS, Todo, put_todo, read_todo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


def render(pair: Pair, tasks: Mapping[int, Task], *, next_number: int, seq: int) -> Pair:
    """Update both views from the ledger; all other text stays."""
    state = put_state(pair.state, tasks, next_number=next_number, seq=seq)
    return Pair(state, put_todo(pair.todo, tasks))


def agree(pair: Pair) -> list[str]:
    """Return the contradictions between the two views; empty if there are none."""
    state, todo = read_state(pair.state), read_todo(pair.todo)
    told = []
    for number, task in state.tasks.items():
        said = todo.statuses().get(number)
        if said is not task.status:
            told.append(f"task {number}: {_mark(said)} in TODO.md, {task.status.mark} in state.json")
        if number in todo.order and todo.order[number][1] is not task.status:
            mark = todo.order[number][1].mark
            told.append(f"task {number}: {mark} in the order of tasks, {task.status.mark} in state.json")
        for kind in LINKS:
            paths = [one.path for one in task.of_type(kind)]
            if todo.paths(number, kind) != paths:
                told.append(f"task {number}: its {kind} differs")
    told += [f"task {number} is only in TODO.md" for number in todo.entries if number not in state.tasks]
    return told


def by_hand(pair: Pair, tasks: Mapping[int, Task], shown: Sequence[Mapping[int, Task]]) -> list[Difference]:
    """List the users' edits in the views: values that are neither current nor shown there before.

    `shown` are the tasks each time asbuilt wrote or read these views.
    """
    state, todo = read_state(pair.state), read_todo(pair.todo)
    found: dict[int, Difference] = {}
    said = [*((number, task.status) for number, task in state.tasks.items()), *_statuses(todo)]
    for number, status in said:
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
        before = [one[number] for one in (tasks, *shown) if number in one]
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
    return {one[number].status for one in times if number in one}


def _merged(theirs: Task, before: Sequence[Task]) -> Task:
    """Apply the values that no earlier version has; the first of `before` is the current task."""
    said = {one.name: getattr(theirs, one.name) for one in fields(theirs) if one.name != "pending"}
    new = {name: value for name, value in said.items() if all(value != getattr(one, name) for one in before)}
    return replace(before[0], **new)


def _mark(status: Status | None) -> str:
    return "nothing" if status is None else status.mark
