"""The two views of a ledger, always made together, and what people have changed in them by hand.

The one rule: an edit by hand is never written over; it becomes an event by a command, or stays where it is.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.lifecycle.tasks.model import Task, slug_for
from asbuilt.lifecycle.tasks.state_json import put_state, read_state
from asbuilt.lifecycle.tasks.statuses import Status
from asbuilt.lifecycle.tasks.todo import LINKS, put_todo, read_todo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from asbuilt.lifecycle.tasks.todo import Todo


class Pair(NamedTuple):
    """The bytes of both files; None: it is not there."""

    state: bytes | None
    todo: bytes | None


class Difference(NamedTuple):
    """Something that a view says otherwise than the ledger."""

    number: int
    what: str
    view: str
    ledger: str

    @property
    def words(self) -> str:
        """Say it in a line."""
        return f"task {self.number}: {self.what} is {self.view} there, {self.ledger} in the ledger"


def render(pair: Pair, tasks: Mapping[int, Task], *, next_number: int, seq: int) -> Pair:
    """Make both views say what the ledger says; all that is not a task's stays as it is."""
    state = put_state(pair.state, tasks, next_number=next_number, seq=seq)
    return Pair(state, put_todo(pair.todo, tasks))


def agree(pair: Pair) -> list[str]:
    """Say where the two contradict each other; nothing when they do not."""
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
    """List what people have changed in the views: it is neither what is so now nor what was shown there.

    `shown` are the tasks as they stood whenever asbuilt wrote these views, or read them.
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
    """Give the tasks that differ once what people wrote into the views counts, field by field.

    What was shown there before is no word of theirs: there the ledger stays. Of a task that is new,
    `state.json` counts; of one that is known, `TODO.md` has the last word on its status.
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
    """List the marks of a `TODO.md`; that of an entry comes after the one in the order of tasks."""
    return [*((number, status) for number, (_, status) in todo.order.items()), *todo.statuses().items()]


def _known(number: int, times: Sequence[Mapping[int, Task]]) -> set[Status]:
    return {one[number].status for one in times if number in one}


def _merged(theirs: Task, before: Sequence[Task]) -> Task:
    """Put into a task what only they say; the first of those before is as it is now."""
    said = {one.name: getattr(theirs, one.name) for one in fields(theirs) if one.name != "pending"}
    new = {name: value for name, value in said.items() if all(value != getattr(one, name) for one in before)}
    return replace(before[0], **new)


def _mark(status: Status | None) -> str:
    return "nothing" if status is None else status.mark
