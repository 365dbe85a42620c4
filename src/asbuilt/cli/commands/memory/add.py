"""`asbuilt memory add`: store a fact or a note of the user."""

from __future__ import annotations

from typing import Final

import click

from asbuilt.cli.commands.memory.known import plain
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import asker, open_site
from asbuilt.errors import DONE, UsageWrong
from asbuilt.journal import memory
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.memory import LONGEST, Kind, lesson

_BY_PEOPLE: Final = click.Choice([Kind.FACT.value, Kind.NOTE.value])


@click.command(
    "add",
    cls=Command,
    examples=[
        ('asbuilt memory add "Redis 6 is what we run"', "a fact"),
        ('asbuilt memory add "limits.py is half moved" --kind session-note', "a note for the next session"),
        ('asbuilt memory add "no threads here" --file src/worker.py', "recalled when that file is touched"),
    ],
)
@click.argument("text")
@click.option("--kind", type=_BY_PEOPLE, default=Kind.FACT.value, help="what it is")
@click.option("--file", "files", multiple=True, metavar="PATH", help="a file it is about; more than once")
@shared(json=True)
def command(door: Door, text: str, *, kind: str, files: tuple[str, ...]) -> int:
    """Remember something about this repository for later plans."""
    said = " ".join(text.split())
    if not said or len(said) > LONGEST:
        raise UsageWrong(
            f"{len(said)} characters are not something that is remembered",
            why=f"Memory is told to agents in a few lines, each of 1 to {LONGEST} characters.",
            next_step="Say it in a sentence or two, or write it into a document of the repository.",
        )
    told = lesson(Kind(kind), said, files=files)
    site = open_site(door)
    with site.journal.store.write() as session:
        new = memory.remember(session, LOCAL, site.repo, [told], actor=asker(door).actor)
        same = [one for one in memory.every(session, LOCAL, site.repo) if one.text == told.text]
    if not same:
        raise UsageWrong(
            f"there is no room for another fact: {memory.KEPT} are remembered here",
            why="No fact is dropped by itself, and nobody is told more.",
            next_step="`asbuilt memory list --kind fact`; `asbuilt memory clear NAME` what no longer holds.",
        )
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.memory/1", **plain(same[0])})
    else:
        door.screen.answer(f"{same[0].name} is remembered." if new else f"{same[0].name} says so already.")
    return DONE
