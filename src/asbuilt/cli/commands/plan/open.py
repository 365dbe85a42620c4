"""`asbuilt plan open`: edit a plan in the user's editor, then show what changed.

Rule: only the editor writes; with --restore, a file that is gone is written from the journal.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from asbuilt.cli.runs.lost_plan_file import file_of
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import Desk, complete_plan, desk_for, problem_counts
from asbuilt.cli.shell.run_context import site_of
from asbuilt.cli.ui.editor import edit
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, FAILED, NotFound, UsageWrong
from asbuilt.journal.queries.recorded_text import recorded_text
from asbuilt.library.atomic_files import create
from asbuilt.library.name_resolution import find
from asbuilt.library.read_plan import Opened
from asbuilt.library.search_path import is_inside


@subcommand(
    "open",
    ("asbuilt plan open rate-limit", "in $VISUAL or $EDITOR"),
    ("EDITOR='code --wait' asbuilt plan open rate-limit", "in another editor"),
    ("asbuilt plan open rate-limit --restore", "its file is gone: write the text of its last run"),
    json=False,
)
@click.argument("plan", shell_complete=complete_plan)
@click.option("--restore", is_flag=True, help="write a file that is gone from the text of its last run")
def command(door: Door, plan: str, *, restore: bool) -> int:
    """Edit a plan in your editor, then show the changes. With --restore, bring a lost file back."""
    if restore:
        return _restored(door, plan)
    if not door.may_ask:
        raise UsageWrong(
            "plan open needs a terminal",
            why="The editor needs a terminal.",
            next_step=f"Edit the file, then: `asbuilt plan check {quote(plan)}`",
        )
    desk = desk_for(door)
    before = desk.open(plan)
    failure = edit(door, before.at.file, name=before.at.shown)
    after = desk.read(before.at)
    _report(door, desk, before, after)
    if not failure:
        return DONE
    door.screen.talk(failure)
    return FAILED


def _restored(door: Door, name: str) -> int:
    """Write the newest text that a run recorded to the plan's path; a file there is never overwritten."""
    site = site_of(door, name)
    address = site.address(name)
    with site.journal.store.read() as session:
        recorded = recorded_text(session, address)
    root, file = site.repository.root, file_of(site.repository.root, address.plan)
    is_ours = Path(address.plan).is_absolute() or is_inside(file, root) or address.plan.startswith("~/")
    if not (recorded and site.has_clone and is_ours):
        raise NotFound(
            f"no text of {name} is recorded here",
            why="Only the text that a run in this repository has started with is kept.",
            next_step="`asbuilt plan list`",
        )
    if file.is_file():
        door.screen.answer(f"{printable(address.plan)} exists; nothing was written.")
    else:
        create(file, site.journal.blobs.get(recorded), name=address.plan)
        door.screen.answer(f"Wrote {printable(address.plan)}, as its last run had it.")
    next_command(door, f"asbuilt status {site.desk.name_of(find(site.desk.library, str(file)))}")
    return DONE


def _report(door: Door, desk: Desk, before: Opened, after: Opened) -> None:
    screen, path, plan = door.screen, printable(after.at.shown), after.plan
    if before.plan.digest == plan.digest:
        screen.answer(f"{path} is unchanged.")
        return
    if before.plan.intent == plan.intent:
        screen.answer(f"{path}: only status marks changed; the requirements are unchanged.")
    else:
        screen.answer(f"{path}: the requirements changed.")
    problems = problem_counts(plan)
    screen.answer(f"{counted(len(plan.phases), 'phase')}, {problems or 'no problems'}.")
    if problems:
        next_command(door, f"asbuilt plan check {desk.name_of(after.at)}")
