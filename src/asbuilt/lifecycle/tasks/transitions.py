"""Which status a task may get, and which tasks may be worked on. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from asbuilt.errors import GateStopped
from asbuilt.lifecycle.tasks.model import Changes, Task, the_task
from asbuilt.lifecycle.tasks.statuses import Status


def moved(task: Task, to: Status) -> Changes | None:
    """Return a user's change of a status, or None; a terminal task must be reopened first."""
    if task.status is to:
        return None
    if task.status.is_terminal and to is not Status.NOT_STARTED:
        raise GateStopped(
            f"task {task.number} is in the terminal state {task.status.mark}",
            why="Runs skip completed and abandoned tasks.",
            next_step=f"`asbuilt task status {task.number} not_started` reopens it.",
        )
    return Changes(status=to)


def workable(tasks: Mapping[int, Task], number: int) -> Task:
    """Return a task that may be worked on; raise `GateStopped` if it is terminal."""
    task = the_task(tasks, number)
    if task.status.is_terminal:
        raise GateStopped(
            f"Task is in terminal state [{task.status}]: task {number}",
            why="Completed and abandoned tasks are not planned.",
            next_step=f"`asbuilt task status {number} not_started` reopens it.",
        )
    return task
