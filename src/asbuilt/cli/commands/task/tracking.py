"""`asbuilt task` add, list, show, status, import and export.

Rule: specs/state.json and TODO.md are written both or neither, and only by export.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import click
from msgspec import to_builtins
from msgspec.structs import asdict

from asbuilt.cli.runs.agent_choice import with_agent
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.read_context import Looking, look
from asbuilt.cli.shell.run_context import Site, asker, open_site
from asbuilt.cli.ui.clock import at, stamp
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.messages import answer, headline
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, PARKED, GateStopped, NotFound, UsageWrong
from asbuilt.flows.tasks.postflight import finish, found_here, wanted_by_hand, write_here
from asbuilt.journal import runs
from asbuilt.journal.ids import LOCAL, new_id
from asbuilt.ledger import tasks
from asbuilt.ledger.tasks import Entry
from asbuilt.lifecycle.tasks import model
from asbuilt.lifecycle.tasks.numbering import numbers_in
from asbuilt.lifecycle.tasks.state_json import STATE, read_state
from asbuilt.lifecycle.tasks.statuses import Status
from asbuilt.lifecycle.tasks.todo import agree
from asbuilt.lifecycle.tasks.transitions import moved
from asbuilt.similar_names import nearest

_FINISHED: Final = frozenset(("done", "finished"))


def known(door: Door) -> tuple[Looking | None, dict[int, model.Task]]:
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
            why=f"The statuses are {', '.join(Status)}.",
            next_step="`asbuilt task list --all` shows the status of each task.",
            typed=word,
            meant=nearest(word, Status) or (Status.COMPLETED if word.casefold() in _FINISHED else ""),
        )
    return status


def finish_views(site: Site) -> None:
    """Finish views whose write was interrupted, before anything else is requested."""
    finish(site.journal.store, LOCAL, site.repo)


def plain(task: model.Task) -> dict[str, Any]:
    """Return a task as JSON data."""
    return {
        "number": task.number,
        "name": task.slug,
        "type": task.kind,
        "status": task.status,
        "description": task.description,
        "artifacts": [
            {"type": artifact.type, "path": artifact.path, "summary": artifact.summary}
            for artifact in task.artifacts
        ],
        "next_artifact_number": task.next_artifact,
        "session_id": task.session or None,
        "pending": task.pending and asdict(task.pending),
        "created": stamp(task.created) if task.created else None,
        "updated": stamp(task.updated) if task.updated else None,
    }


@subcommand(
    "add",
    ('asbuilt task add "limit requests per key"', "gets the next number"),
    ('asbuilt task add "drop Python 3.10" --type chore', "of another type than general"),
    ('asbuilt task add "move sessions to Redis" --name redis', "with a short name of its own"),
)
@click.argument("description")
@click.option("--type", "kind", default=model.GENERAL, metavar="TYPE", help="type of work")
@click.option("--name", metavar="NAME", help="short name, if not made of the description")
def add(door: Door, description: str, *, kind: str, name: str | None) -> None:
    """Add a task under the next number. Both views show it the next time they are written."""
    content = description.strip()
    if not content or len(content) > model.LONGEST:
        raise UsageWrong(
            f"a description has 1 to {model.LONGEST} characters, and this one has {len(content)}",
            why="Agents and TODO.md get the description as it is.",
            next_step='`asbuilt task add "a short description"`, with the details in a document.',
        )
    site = open_site(door)
    finish_views(site)
    with site.journal.store.read() as session:
        is_empty = tasks.head(session, LOCAL, site.repo).seq == 0
    if is_empty and found_here(site.repository.root).pair.state is not None:
        raise GateStopped(
            "specs/state.json has tasks that are not in the ledger",
            why="A new task could get the number of one of them.",
            next_step="`asbuilt task import`",
        )
    with site.journal.store.write() as session:
        task = tasks.add(
            session,
            LOCAL,
            site.repo,
            slug=model.slug_for(name or content),
            kind=kind.strip() or model.GENERAL,
            description=content,
            key=f"add/{new_id()}",
            actor=asker(door).actor,
        )
    if not door.emitted("asbuilt.task/1", plain(task)):
        door.screen.answer(f"Added task {task.number}: {task.slug}.")
        with_agent(door, site.desk.settings, f"asbuilt task plan {task.number}").show(door)


@subcommand(
    "list",
    ("asbuilt task list", "open tasks"),
    ("asbuilt task list --all", "completed and abandoned tasks, too"),
    ("asbuilt task list --status planned", "tasks that wait to be built"),
)
@click.option("--all", "is_all", is_flag=True, help="also completed and abandoned tasks")
@click.option("--status", metavar="STATUS", help="only tasks with this status")
def list_(door: Door, *, is_all: bool, status: str | None) -> None:
    """List the tasks of this repository by number."""
    wanted = None if status is None else status_named(status)
    _, tasks = known(door)
    shown = [
        task
        for task in tasks.values()
        if (task.status is wanted if wanted else is_all or not task.status.is_terminal)
    ]
    if door.emitted("asbuilt.tasks/1", {"tasks": [plain(task) for task in shown]}):
        return
    if not shown:
        door.screen.answer("No open tasks." if tasks else "No tasks here.")
    for task in shown:
        words = " ".join(task.description.split()) or task.slug
        answer(door, f"{task.number:<5}{task.status.mark:<15}", printable(words), under=5)


_LAST: Final = 12
_INTERNAL: Final = ("updated", "session", "pending")


@subcommand(
    "show",
    ("asbuilt task show 7", "its status, artifacts, errors and history"),
    ("asbuilt task show 7 --json", "for a script"),
)
@click.argument("number", type=click.IntRange(1))
def show(door: Door, number: int) -> None:
    """Show one task: its status, its artifacts and its history."""
    looking, tasks_here = known(door)
    task = model.the_task(tasks_here, number)
    entries: list[Entry] = []
    is_over = False
    if looking is not None:
        with looking.journal.store.read() as session:
            entries = tasks.history(session, LOCAL, looking.repo or "", number=number)
            run = task.pending and runs.find(session, LOCAL, looking.repo or "", task.pending.run)
            is_over = bool(run and run.is_over)
    errors = [to_builtins(entry.event.error) for entry in entries if isinstance(entry.event, model.Failed)]
    events = [{"at": entry.at, "kind": entry.kind, "actor": entry.actor} for entry in entries]
    if door.emitted("asbuilt.task/1", {**plain(task), "errors": errors, "events": events}):
        return
    _report(door, task, is_over=is_over)
    for entry in entries[-_LAST:]:
        when = at(entry.at, datetime.now(UTC))
        answer(door, f"{when:<13}", printable(f"{_words(entry)} ({entry.actor})"))


def _report(door: Door, task: model.Task, *, is_over: bool) -> None:
    headline(door, f"{task.number} {task.slug}", task.status.mark)
    answer(door, "wants    ", printable(" ".join(task.description.split()) or "no description"))
    answer(door, "type     ", printable(task.kind))
    for artifact in task.artifacts:
        summary = f"; {artifact.summary}" if artifact.summary else ""
        answer(door, f"{artifact.type:<9}", printable(f"{artifact.path}{summary}"))
    if task.pending is not None:
        reason = "its run ended without status, link and commit" if is_over else task.pending.reason
        left = f"{task.pending.operation} by {task.pending.session}: {reason}"
        answer(door, "pending  ", printable(left))


def _words(entry: Entry) -> str:
    match entry.event:
        case model.Failed(error):
            return f"{error.id} {error.type}: {error.message}"
        case model.Changed(changes):
            changed = {name: value for name, value in changes.named.items() if name not in _INTERNAL}
            status = f"status {changed.pop('status')}" if "status" in changed else ""
            return (
                "; ".join(filter(None, [status, *(name.replace("_", " ") for name in sorted(changed))]))
                or "touched"
            )
        case _:
            return entry.kind.partition(".")[2]


@subcommand(
    "status",
    ("asbuilt task status 7 completed", "it is done"),
    ("asbuilt task status 7, 9-11 blocked -m 'waits for keys'", "several, with the reason"),
    ("asbuilt task status 7 not_started", "reopen a finished task"),
)
@click.argument("words", nargs=-1, required=True, metavar="NUMBERS... STATUS")
@click.option("-m", "note", metavar="TEXT", default="", help="reason, kept in its history")
def status(door: Door, words: tuple[str, ...], *, note: str) -> None:
    """Set the status of all named tasks, or of none. Setting it again changes nothing."""
    *named, last = words
    status, numbers = status_named(last), numbers_in(named)
    if not numbers:
        raise UsageWrong(
            "no task is named",
            why="The command needs task numbers and a status.",
            next_step=f"`asbuilt task status 7 {status}`, or list the numbers: `asbuilt task list`",
        )
    site = open_site(door)
    finish_views(site)
    actor, updates = asker(door).actor, []
    with site.journal.store.write() as session:
        tasks.hold(session, LOCAL, site.repo)
        here = tasks.every(session, LOCAL, site.repo)
        for number in numbers:
            task = model.the_task(here, number)
            changes = moved(task, status)
            if changes is not None:
                key = f"status/{new_id()}"
                task = tasks.change(
                    session, LOCAL, site.repo, number, changes=changes, key=key, actor=actor, why=note[:500]
                )
            updates.append((task, changes is not None))
    if door.emitted("asbuilt.tasks/1", {"tasks": [plain(task) for task, _ in updates]}):
        return
    for task, is_new in updates:
        door.screen.answer(f"Task {task.number} is {task.status.mark}{'' if is_new else ' already'}.")


_FIELDS = ("status", "slug", "kind", "description", "artifacts", "next_artifact", "more")


@subcommand(
    "import",
    ("asbuilt task import", "shows the differences, then asks"),
    ("asbuilt task import --yes", "imports without a question"),
)
@click.option("--yes", is_flag=True, help="import without a question")
def bring(door: Door, *, yes: bool) -> int:
    """Import new tasks and edits from specs/state.json and TODO.md into the ledger.

    The differences are shown first. The files do not change.
    """
    site = open_site(door)
    finish_views(site)
    found = found_here(site.repository.root)
    if found.pair.state is None and found.pair.todo is None:
        raise NotFound(
            f"there is no {STATE} and no {found.todo} here",
            why="Tasks are imported from these files.",
            next_step='`asbuilt task add "what is wanted"` adds a task.',
        )
    with site.journal.store.read() as session:
        here = tasks.every(session, LOCAL, site.repo)
        wanted = wanted_by_hand(session, LOCAL, site.repo, found.pair)
    rows = [_row(here.get(number), task) for number, task in wanted.items()]
    apart = agree(found.pair) if found.pair.state is not None else []
    is_agreed = bool(wanted) and (yes or _asked(door, rows, apart))
    if is_agreed:
        with site.journal.store.write() as session:
            number = read_state(found.pair.state).next_number
            tasks.take(session, LOCAL, site.repo, wanted, next_number=number, actor=asker(door).actor)
    if door.emitted("asbuilt.import/1", {"differ": list(wanted), "taken": is_agreed, "apart": apart}):
        pass
    elif not wanted:
        door.screen.answer("The ledger has these tasks already.")
    elif is_agreed:
        door.screen.answer(f"{counted(len(wanted), 'task')} imported.")
    return DONE if is_agreed or not wanted else PARKED


def _asked(door: Door, rows: list[str], apart: list[str]) -> bool:
    if not door.json:
        for row in rows:
            answer(door, "", printable(row))
        for number in apart:
            door.screen.talk(printable(f"The files disagree: {number}."))
    return agreed(door, "Import this into the ledger?")


def _row(before: model.Task | None, after: model.Task) -> str:
    if before is None:
        return f"+ {after.number} {after.slug} {after.status.mark}"
    changed = [name for name in _FIELDS if getattr(before, name) != getattr(after, name)]
    changes = [f"{before.status.mark} -> {after.status.mark}"] if "status" in changed else []
    changes += [name.replace("_", " ") for name in changed if name != "status"]
    return f"~ {after.number} {after.slug}: {', '.join(changes) or 'times'}"


@subcommand(
    "export",
    ("asbuilt task export", "specs/state.json and TODO.md, not committed"),
    ("asbuilt task export --json", "which of them changed"),
)
def export(door: Door) -> None:
    """Write specs/state.json and TODO.md into this checkout, both or neither; nothing is committed.

    Unknown keys and other text stay as they are. Edits by hand are never overwritten; import them first.
    """
    site = open_site(door)
    changed = write_here(site.journal.store, LOCAL, site.repo, site.repository.root)
    wrote = f"Wrote {' and '.join(changed)}, not committed." if changed else "Both views are up to date."
    if not door.emitted("asbuilt.export/1", {"changed": changed}):
        door.screen.answer(printable(wrote))
