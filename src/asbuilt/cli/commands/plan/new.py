"""`asbuilt plan new`: write a plan to fill in. No file is overwritten."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from asbuilt.cli.shell.desk import desk_for, next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import NotFound, UsageWrong
from asbuilt.library.naming import put_for_session, put_named, put_new
from asbuilt.library.shelves import describe
from asbuilt.plan.editing.template import blank_plan
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.library.shelves import Library


@click.command(
    "new",
    cls=Command,
    examples=[
        ('asbuilt plan new "rate limiting"', "plans/rate-limiting.md, to fill in"),
        ('asbuilt plan new "rate limiting" --phases 4', "with four phases"),
        ("asbuilt plan new", "under two readable words, to name later"),
        ('asbuilt plan new "rate limiting" --user', "in your own folder, outside the repository"),
    ],
)
@click.argument("title", nargs=-1)
@click.option("--name", metavar="NAME", help="the file's name, if not made of the title")
@click.option("--phases", type=click.IntRange(1, 26), default=2, help="how many phases to prepare")
@click.option("--user", is_flag=True, help="put it into your own folder, not into the repository")
@shared(json=False)
def command(door: Door, title: tuple[str, ...], *, name: str | None, phases: int, user: bool) -> None:
    """Write a plan to fill in; a file that is there is never overwritten."""
    desk = desk_for(door)
    library = desk.library
    folder = library.user_folder if user else plans_folder(library)
    words = _title(" ".join(title))
    data = _blank(words or "Untitled", phases)

    def show(file: Path) -> str:
        return describe(library, file).shown

    if name is not None:
        file = put_named(folder, name, data, show=show)
    elif words:
        file = put_new(folder, words, data, show=show)
    else:
        file = put_for_session(folder, data, show=show)
    at = describe(library, file)
    door.screen.answer(f"Wrote {printable(at.shown)}: {counted(phases, 'phase')} to fill in.")
    typed = desk.name_of(at)
    next_command(door, f"asbuilt plan open {typed}", f", then `asbuilt plan check {typed}`")


def _blank(title: str, phases: int) -> bytes:
    """Return the text of a plan that parses as this title and these phases."""
    today = datetime.now(UTC).astimezone().date()
    text = blank_plan(title, phases=phases, created=today)
    # A title like "Phase 1: x" parses as a phase unless a word precedes it.
    for heading in (f"\n# {title}\n", f"\n# Plan: {title}\n"):
        data = text.replace(f"\n# {title}\n", heading, 1).encode()
        plan = read(data)
        if (plan.title, len(plan.phases)) == (title, phases):
            return data
    raise UsageWrong(
        f'"{title}" cannot be a title',
        why="The plan would read as something else than it says.",
        next_step="Choose plainer words.",
    )


def _title(given: str) -> str:
    title = " ".join(given.split())
    if printable(title) != title:
        raise UsageWrong(
            f'the title "{printable(title)}" holds a character that nobody sees',
            why="It would steer terminals, or make the plan read as something else than it says.",
            next_step="Leave that character out.",
        )
    return title


def plans_folder(library: Library) -> Path:
    """Return the folder for new plans. Raise if there is no repository."""
    if library.folder is None:
        raise NotFound(
            "no repository here",
            why="A plan lives in the repository it is about.",
            next_step="`cd` into one, name one with --repo DIR, or add --user for your own folder.",
        )
    return library.folder
