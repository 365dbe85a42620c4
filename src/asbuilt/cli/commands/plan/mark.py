"""`asbuilt plan mark`: set a status in the plan's file. All other bytes stay the same.

In a repository the mark is also recorded in the journal, as the user's statement. A later run reads both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Final, NamedTuple

import click

from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import complete_phase, complete_plan, desk_for, naming
from asbuilt.cli.shell.run_context import asker, open_site
from asbuilt.cli.ui.messages import next_command, talk
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import EditRefused, PlanChanged, UsageWrong
from asbuilt.events.phases import PhaseMarked
from asbuilt.events.plans import PlanCompleted
from asbuilt.journal.events import append, open_plan
from asbuilt.journal.ids import LOCAL, Address, new_id
from asbuilt.journal.queries.overview import events_of
from asbuilt.library.atomic_files import Change, replace_all
from asbuilt.library.read_plan import Opened
from asbuilt.library.search_path import PlanFile
from asbuilt.lifecycle.status.plan_state import Standing, done_now, fold_plan
from asbuilt.plan.editing.edit import complete, mark_item, mark_phase, the_phase
from asbuilt.plan.markdown.source import Edit
from asbuilt.plan.model import Plan, Status

_Change = tuple[PlanFile, Plan, Edit]

_TRIES: Final = 20
_NOT_PROVEN: Final = "Marked, not proven: no check was run."
_STATUSES: Final = ("pending", "in-progress", "in_progress", "done", "blocked")


class _Wish(NamedTuple):
    """The status to set on a phase."""

    phase: str
    status: Status
    item: int | None
    items: bool
    commit: str | None
    note: str | None


@subcommand(
    "mark",
    ("asbuilt plan mark rate-limit 2a done", "one phase"),
    ("asbuilt plan mark rate-limit 2a done --commit a1b2c3d", "with the commit that did it"),
    ("asbuilt plan mark rate-limit 2a done --item 3", "one of its work items"),
    ("asbuilt plan mark rate-limit --complete", "the whole plan"),
    json=False,
)
@click.argument("plan", shell_complete=complete_plan)
@click.argument("phase", required=False, shell_complete=complete_phase)
@click.argument("status", required=False, type=click.Choice(_STATUSES))
@click.option("--commit", metavar="HASH", help="the commit that did it")
@click.option("--note", metavar="TEXT", help="a remark, where the plan has a place for one")
@click.option("--item", type=int, metavar="N", help="only the Nth work item of the phase")
@click.option("--items", is_flag=True, help="its work items' boxes too")
@click.option("--complete", "whole", is_flag=True, help="state that the whole plan is complete, and when")
def command(  # noqa: PLR0913 - click passes each option by its name
    door: Door,
    plan: str,
    phase: str | None,
    status: str | None,
    *,
    commit: str | None,
    note: str | None,
    item: int | None,
    items: bool,
    whole: bool,
) -> None:
    """Mark a phase, an item or the plan in the file, in the manner that the file already uses."""
    if whole == (phase is not None) or (phase is not None and status is None):
        raise UsageWrong(
            "mark takes a phase and its status, or --complete",
            why="asbuilt does not guess a phase or a status.",
            next_step=f"`asbuilt plan mark {plan} 1 done`, or `asbuilt plan mark {plan} --complete`",
        )
    if phase is None or status is None:
        _refuse("--complete", {"--commit": commit, "--note": note, "--item": item, "--items": items})
        _in_turn(lambda: _complete(door, desk_for(door).open(plan)))
        return
    if item is not None:
        _refuse("--item", {"--items": items})
    wish = _Wish(phase, Status(status.replace("-", "_")), item, items, commit, note)
    _in_turn(lambda: _mark(door, desk_for(door).open(plan), wish))


def _in_turn(mark: Callable[[], None]) -> None:
    """Mark; if another writer changed the file since it was read, read it again and mark that text."""
    for _ in range(_TRIES):
        with suppress(PlanChanged):
            return mark()
    return mark()


def _complete(door: Door, opened: Opened) -> None:
    with mark_recorded(door, opened.at, PlanCompleted(status="complete", by="hand")):
        _write([(opened.at, opened.plan, complete(opened.plan, datetime.now(UTC)))])
    door.screen.answer(f"{printable(opened.at.shown)}: the plan is marked complete.")
    door.screen.talk(_NOT_PROVEN)
    next_command(door, f"asbuilt plan show {desk_for(door).name_of(opened.at)}")


def _refuse(option: str, others: Mapping[str, object]) -> None:
    given = [name for name, value in others.items() if value not in (None, False)]
    if given:
        raise UsageWrong(
            f"{option} does not go with {', '.join(given)}",
            why="The command can apply only one of them; nothing was written.",
            next_step="`asbuilt plan mark -h` shows examples; mark one after the other.",
        )


def _mark(door: Door, opened: Opened, wish: _Wish) -> None:
    with naming(desk_for(door).name_of(opened.at)):
        phase = the_phase(opened.plan, wish.phase)
        edit, left_out = _edit(opened.plan, wish)
    edits = [(opened.at, opened.plan, edit)]
    if opened.progress_document is not None and wish.item is None:
        more, missing = _beside(*opened.progress_document, wish)
        edits += more
        left_out += missing
    mark = PhaseMarked(phase=phase.id, status=wish.status.value, item=wish.item, by="hand")
    with mark_recorded(door, opened.at, mark) as before:
        changed = _write(edits)
    done = done_now(before, opened.plan.marked_done)
    is_turned = wish.item is None and (phase.id in done) is not (wish.status is Status.DONE)
    screen = door.screen
    name = f"phase {phase.id}" if wish.item is None else f"item {wish.item} of phase {phase.id}"
    words = wish.status.value.replace("_", " ")
    if is_turned and before.proofs.get(phase.id):
        words += ": its proof no longer counts, and the next run builds it"
    elif not changed and not is_turned:
        words += " already"
    places = ", ".join(printable(at.shown) for at in changed or [opened.at])
    screen.answer(f"{places}: {name} is marked {words}.")
    for what in left_out:
        talk(door, f"{screen.err.symbols.note} ", f"Not written: {what}.")
    if changed and wish.status is Status.DONE:
        screen.talk(_NOT_PROVEN)
    next_command(door, f"asbuilt plan show {desk_for(door).name_of(opened.at)}")


def _edit(plan: Plan, wish: _Wish) -> tuple[Edit, tuple[str, ...]]:
    if wish.item is None:
        marked = mark_phase(
            plan, wish.phase, wish.status, commit=wish.commit, note=wish.note, items=wish.items
        )
        return marked.edit, marked.left_out
    if wish.status not in (Status.DONE, Status.PENDING):
        raise UsageWrong(
            f"an item is done or pending, not {wish.status.value.replace('_', ' ')}",
            why="A box has two states.",
            next_step=f"`asbuilt plan mark PLAN {wish.phase} {wish.status.value}` marks the phase instead.",
        )
    edit = mark_item(plan, wish.phase, wish.item, done=wish.status is Status.DONE, commit=wish.commit)
    return edit, ("the note: an item has no place for one",) if wish.note else ()


def _beside(at: PlanFile, plan: Plan, wish: _Wish) -> tuple[list[_Change], tuple[str, ...]]:
    """Mark the phase in the progress document, too. Also return what could not be written there."""
    if all(phase.id != wish.phase.lower() for phase in plan.phases):
        return [], (f"{at.shown} does not speak of phase {wish.phase}",)
    try:
        marked = mark_phase(plan, wish.phase, wish.status, commit=wish.commit, note=wish.note)
    except EditRefused as error:
        return [], (f"{at.shown} stays as it is: {error.what}",)
    return [(at, plan, marked.edit)], tuple(f"in {at.shown}, {what}" for what in marked.left_out)


def _write(edits: list[_Change]) -> list[PlanFile]:
    """Write all edits or none, and return the files that changed."""
    changing = [(at, plan.source.data, edit) for at, plan, edit in edits if edit.splices]
    replace_all([Change(at.file, data, edit.apply(data)[0], at.shown) for at, data, edit in changing])
    return [at for at, _, _ in changing]


@contextmanager
def mark_recorded(door: Door, at: PlanFile, mark: PhaseMarked | PlanCompleted) -> Iterator[Standing]:
    """Append the event of a mark around the write of its file; yield the plan's state before it.

    If the write fails, no event is stored.
    If the commit after it fails, the file has the mark and the journal does not.
    """
    if not at.repository:
        yield Standing()
        return
    site = open_site(door)
    address = Address(LOCAL, site.repo, at.shown)
    with site.journal.store.write() as session:
        open_plan(session, address, at.slug)
        before = fold_plan(events_of(session, site.journal.blobs, address))
        append(session, address, mark, key=f"mark/{new_id()}", actor=asker(door).actor)
        yield before
