"""The tasks of the current repository. Reading them creates nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asbuilt.cli.shell.reading import look
from asbuilt.cli.ui.clock import stamp
from asbuilt.errors import UsageWrong
from asbuilt.flows.tasks.views import finish, found_here
from asbuilt.journal.ids import LOCAL
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.statuses import Status

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.cli.shell.reading import Looking
    from asbuilt.cli.shell.site import Site
    from asbuilt.lifecycle.tasks.model import Task


def known(door: Door) -> tuple[Looking | None, dict[int, Task]]:
    """Return the tasks; empty if the journal has nothing about this repository."""
    _, looking = look(door)
    if looking is None or looking.repo is None:
        return None, {}
    with looking.journal.store.read() as session:
        return looking, tasks.every(session, LOCAL, looking.repo)


def status_named(word: str) -> Status:
    """Return the status that was typed."""
    status = Status.named(word.strip("[]"))
    if status is None:
        raise UsageWrong(
            f'"{word}" is no status of a task',
            why="Statuses are words that both views know.",
            next_step=f"Use one of: {', '.join(Status)}.",
        )
    return status


def finish_views(site: Site) -> None:
    """Finish views whose write was interrupted, before anything else is requested."""
    finish(site.journal.store, LOCAL, site.repo)


def has_views_of_others(site: Site) -> bool:
    """Return whether there are views here that were not imported, while the ledger is empty."""
    with site.journal.store.read() as session:
        head = tasks.head(session, LOCAL, site.repo)
    return head.seq == 0 and found_here(site.repository.root).pair.state is not None


def plain(task: Task) -> dict[str, Any]:
    """Return a task as JSON data."""
    return {
        "number": task.number,
        "name": task.slug,
        "type": task.kind,
        "status": task.status,
        "description": task.description,
        "artifacts": [{"type": one.type, "path": one.path, "summary": one.summary} for one in task.artifacts],
        "next_artifact_number": task.next_artifact,
        "session_id": task.session or None,
        "pending": None if task.pending is None else task.pending._asdict(),
        "created": stamp(task.created) if task.created else None,
        "updated": stamp(task.updated) if task.updated else None,
    }
