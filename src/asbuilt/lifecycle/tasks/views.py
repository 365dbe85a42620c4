"""The two views of a ledger, always made together, and what people have changed in them by hand.

The one rule: an edit by hand is never written over; it becomes an event by a command, or stays where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.lifecycle.tasks.state_json import put_state, read_state
from asbuilt.lifecycle.tasks.todo import LINKS, put_todo, read_todo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.lifecycle.tasks.model import Status, Task


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


def by_hand(pair: Pair, tasks: Mapping[int, Task], shown: Mapping[int, Task] | None) -> list[Difference]:
    """List what people have changed in the views: it is neither what was last shown there nor what is now.

    `shown` are the tasks as they were when the views were last written or read; None: asbuilt knows of no
    such time, and everything that differs counts.
    """
    state, todo = read_state(pair.state), read_todo(pair.todo)
    before = tasks if shown is None else shown
    found: dict[tuple[int, str], Difference] = {}
    for number, task in state.tasks.items():
        if number not in tasks:
            found[number, "task"] = Difference(number, "it", "there", "not")
        elif task.status not in (tasks[number].status, _was(before, number)):
            mark = task.status.mark
            found[number, "status"] = Difference(number, "its status", mark, tasks[number].status.mark)
    for number, status in [*todo.statuses().items(), *((one, at[1]) for one, at in todo.order.items())]:
        if number in tasks and status not in (tasks[number].status, _was(before, number)):
            found[number, "status"] = Difference(number, "its status", status.mark, tasks[number].status.mark)
    for number in todo.entries:
        if number not in tasks and number not in state.tasks:
            found[number, "task"] = Difference(number, "it", "there", "not")
    return list(found.values())


def _was(before: Mapping[int, Task], number: int) -> Status | None:
    return before[number].status if number in before else None


def _mark(status: Status | None) -> str:
    return "nothing" if status is None else status.mark
