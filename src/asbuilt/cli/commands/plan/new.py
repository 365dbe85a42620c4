"""`asbuilt plan new`: write a plan to fill in. No file is overwritten."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from shlex import quote
from typing import Final

import click

from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import desk_for
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import NotFound, SettingInvalid, UsageWrong
from asbuilt.library.bounded_read import read_bytes
from asbuilt.library.new_plan_file import put_for_session, put_named, put_new
from asbuilt.library.search_path import Library, describe
from asbuilt.plan.editing.template import TEMPLATE, blank_plan
from asbuilt.plan.reader import read
from asbuilt.settings import Settings
from asbuilt.settings.files import correcting

_SETTING: Final = "plan.template"
_MOST: Final = 50_000
"""Largest template in bytes; every agent that plans reads all of it."""


@subcommand(
    "new",
    ('asbuilt plan new "rate limiting"', "plans/rate-limiting.md, to fill in"),
    ('asbuilt plan new "rate limiting" --phases 4', "with four phases"),
    ("asbuilt plan new", "under two readable words, to name later"),
    ('asbuilt plan new "rate limiting" --user', "in your own folder, outside the repository"),
    ("asbuilt plan new --template > plan.md", "the template, to edit; plan.template names your own"),
    json=False,
)
@click.argument("title", nargs=-1)
@click.option("--name", metavar="NAME", help="the file's name, if not made of the title")
@click.option("--phases", type=click.IntRange(1, 26), default=2, help="how many phases to prepare")
@click.option("--user", is_flag=True, help="put it into your own folder, not into the repository")
@click.option("--template", is_flag=True, help="print the template of new plans, and do nothing else")
def command(
    door: Door, title: tuple[str, ...], *, name: str | None, phases: int, user: bool, template: bool
) -> None:
    """Write a plan to fill in. Existing files are never overwritten.

    The plan has the form of the repository's template (plan.template). Agents that write plans get it, too.
    """
    desk = desk_for(door)
    library = desk.library
    form = template_text(desk.settings, library.repository.root if library.repository else None)
    if template:
        door.screen.answer_all(map(printable, form.splitlines()))
        return
    folder = library.user_folder if user else plans_folder(library)
    words = _title(" ".join(title))
    data = _blank(words or "Untitled", phases, form)

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
    edit = [f"asbuilt plan open {typed}"] if door.may_ask else []
    comment = "" if edit else f"after you edit {at.shown}"
    next_command(door, *edit, f"asbuilt plan check {typed}", comment=comment)


def template_text(settings: Settings, root: Path | None) -> str:
    """Return the template of new plans. Raise if the file of the setting gives no plan with phases."""
    named = settings.text(_SETTING)
    if not named or root is None:
        return TEMPLATE
    text = read_bytes(root / named, limit=_MOST, name=named).decode("utf-8", "replace")
    tried = blank_plan("Untitled", phases=2, created=date(2026, 1, 1), template=text)
    found = len(read(tried.encode()).phases)
    if found == 2:
        return text
    raise SettingInvalid(
        f"{named} is no template: a plan of 2 phases made from it reads as {counted(found, 'phase')}",
        why=f"{_SETTING} names it, and new plans would not have the phases that you ask for.",
        next_step=f"{correcting(root / named)}, with a heading ## Phase {{number}} — {{name}}",
    )


def _blank(title: str, phases: int, template: str) -> bytes:
    """Return the text of a plan that parses as this title and these phases."""
    today = datetime.now(UTC).astimezone().date()
    text = blank_plan(title, phases=phases, created=today, template=template)
    # A title like "Phase 1: x" parses as a phase unless a word precedes it.
    for heading in (f"\n# {title}\n", f"\n# Plan: {title}\n"):
        data = text.replace(f"\n# {title}\n", heading, 1).encode()
        plan = read(data)
        if (plan.title, len(plan.phases)) == (title, phases):
            return data
    raise UsageWrong(
        f'"{title}" cannot be a title',
        why="The plan would parse as another title or other phases.",
        next_step="`asbuilt plan new` makes a plan to name later; or choose plainer words.",
    )


def _title(given: str) -> str:
    title = " ".join(given.split())
    if printable(title) != title:
        raise UsageWrong(
            f'the title "{printable(title)}" has an invisible character',
            why="It could control the terminal, or change how the plan parses.",
            next_step=f"`asbuilt plan new {quote(''.join(filter(str.isprintable, title)))}`",
        )
    return title


def plans_folder(library: Library) -> Path:
    """Return the folder for new plans. Raise if there is no repository."""
    if library.folder is None:
        raise NotFound(
            "no repository here",
            why="New plans are written into a repository.",
            next_step="`cd your-repo`, or name one with --repo DIR; --user takes your own folder.",
        )
    return library.folder
