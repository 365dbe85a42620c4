"""`asbuilt memory`: lessons, facts and notes about this repository.

Reading creates nothing; deleting all or by kind needs confirmation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

from asbuilt.cli.shell.lazy import Lazy, LazyGroup
from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.read_context import Looking, look
from asbuilt.cli.shell.run_context import asker, open_site
from asbuilt.cli.ui.clock import at, stamp
from asbuilt.cli.ui.confirm import agreed
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import NotFound, UsageWrong
from asbuilt.journal import memory
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.memory import LONGEST, Kind, Memory, lesson, ranked

KINDS: Final = click.Choice([kind.value for kind in Kind])
_NAME: Final = re.compile(r"m?([1-9][0-9]{0,8})", re.ASCII)


def known(door: Door, kind: str | None = None) -> tuple[Looking | None, list[Memory]]:
    """Return the memories, newest first; empty if the journal has nothing about this repository."""
    _, looking = look(door)
    if looking is None or looking.repo is None:
        return None, []
    with looking.journal.store.read() as session:
        return looking, memory.every(session, LOCAL, looking.repo, kind=Kind(kind) if kind else None)


def chosen(memories: Iterable[Memory], name: str) -> Memory:
    """Find a memory by what was typed: m3, or 3."""
    typed = _NAME.fullmatch(name)
    for found in memories:
        if typed and found.number == int(typed[1]):
            return found
    raise NotFound(
        f'no memory "{name}"', why="Memories have names like m3.", next_step="`asbuilt memory list`"
    )


def write_list(door: Door, memories: Sequence[Memory], *, empty: str) -> None:
    """Show each memory on its line, or that there are none."""
    if door.emitted("asbuilt.memories/1", {"memories": [plain(found) for found in memories]}):
        return
    if not memories:
        door.screen.answer(empty)
    for found in memories:
        answer(door, printable(f"{found.name:<5}{found.kind:<14}"), printable(found.text), under=5)


def plain(found: Memory) -> dict[str, Any]:
    """Return a memory as JSON data."""
    return {"name": found.name, **found._asdict(), "files": list(found.files), "at": stamp(found.at)}


@subcommand(
    "list",
    ("asbuilt memory list", "all, newest first"),
    ("asbuilt memory list --kind fact", "facts of users"),
    ("asbuilt memory list --json", "for a script"),
)
@click.option("--kind", type=KINDS, help="only of this kind")
def list_(door: Door, *, kind: str | None) -> None:
    """List the memories of this repository, newest first."""
    _, memories = known(door, kind)
    write_list(door, memories, empty="No memories of this repository.")


@subcommand("show", ("asbuilt memory show m3", "its text, date and author"))
@click.argument("name")
def show(door: Door, name: str) -> None:
    """Show one memory: its text, files, date and author."""
    looking, memories = known(door)
    found = chosen(memories, name)
    if door.emitted("asbuilt.memory/1", plain(found)) or looking is None:
        return
    answer(door, f"{found.name:<7}", printable(found.text))
    since = f"{found.by}, {at(found.at, looking.moment.now)}"
    for label, value in (
        ("kind", found.kind),
        ("plan", found.plan),
        ("files", ", ".join(found.files)),
        ("from", since),
    ):
        if value:
            answer(door, f"{label:<7}", printable(value))


@subcommand(
    "search",
    ("asbuilt memory search redis timeout", "by words"),
    ("asbuilt memory search --file src/api/app.py", "by a file, or one beside it"),
)
@click.argument("words", nargs=-1)
@click.option("--file", "files", multiple=True, metavar="PATH", help="a file it is about; more than once")
def search(door: Door, words: tuple[str, ...], *, files: tuple[str, ...]) -> None:
    """List memories about words or files, in the order in which agents get them."""
    _, memories = known(door)
    weighed = ranked(memories, about=" ".join(words), files=files)
    write_list(door, [found for weight, found in weighed if weight], empty="No matching memory.")


_BY_PEOPLE: Final = click.Choice([Kind.FACT.value, Kind.NOTE.value])


@subcommand(
    "add",
    ('asbuilt memory add "Redis 6 is what we run"', "a fact"),
    ('asbuilt memory add "limits.py is half moved" --kind session-note', "a note for the next session"),
    ('asbuilt memory add "no threads here" --file src/worker.py', "recalled when that file is touched"),
)
@click.argument("text")
@click.option("--kind", type=_BY_PEOPLE, default=Kind.FACT.value, help="kind of memory")
@click.option("--file", "files", multiple=True, metavar="PATH", help="a file it is about; more than once")
def add(door: Door, text: str, *, kind: str, files: tuple[str, ...]) -> None:
    """Add a fact or a note about this repository for later plans."""
    content = " ".join(text.split())
    if not content or len(content) > LONGEST:
        raise UsageWrong(
            f"a memory has 1 to {LONGEST} characters, and this one has {len(content)}",
            why="Agents get memories as single lines.",
            next_step='`asbuilt memory add "a sentence or two"`, or write a document in the repository.',
        )
    new_memory = lesson(Kind(kind), content, files=files)
    site = open_site(door)
    with site.journal.store.write() as session:
        new = memory.remember(session, LOCAL, site.repo, [new_memory], actor=asker(door).actor)
        same = [found for found in memory.every(session, LOCAL, site.repo) if found.text == new_memory.text]
    if not same:
        raise UsageWrong(
            f"{memory.KEPT} facts are stored here, and that is the limit",
            why="Facts are never deleted automatically.",
            next_step="`asbuilt memory list --kind fact`, or delete one: `asbuilt memory clear m3`",
        )
    if not door.emitted("asbuilt.memory/1", plain(same[0])):
        door.screen.answer(f"Added {same[0].name}." if new else f"{same[0].name} has this text already.")


@subcommand(
    "clear",
    ("asbuilt memory clear m3 m4", "delete two"),
    ("asbuilt memory clear --kind lesson", "delete all lessons, after a yes"),
    ("asbuilt memory clear --yes", "delete all"),
)
@click.argument("names", nargs=-1)
@click.option("--kind", type=KINDS, help="only of this kind")
@click.option("--yes", is_flag=True, help="do not ask")
def clear(door: Door, names: tuple[str, ...], *, kind: str | None, yes: bool) -> None:
    """Delete the named memories, or all. This cannot be undone."""
    looking, memories = known(door, kind)
    going = [chosen(memories, name) for name in names] if names else memories
    what = counted(len(going), "memory", "memories")
    if going and not names and not yes and not agreed(door, f"Delete {what}?"):
        raise UsageWrong(
            f"deleting {what} needs a yes",
            why="Deleted memories cannot be restored.",
            next_step="`asbuilt memory list`, or delete them: `asbuilt memory clear --yes`",
        )
    if looking is not None and looking.repo is not None:
        with looking.journal.store.write() as session:
            memory.forget(session, LOCAL, looking.repo, [found.number for found in going])
    if not door.emitted("asbuilt.memories/1", {"forgotten": [found.name for found in going]}):
        door.screen.answer(f"Deleted {what}." if going else "No memories of this repository.")


group: Final = LazyGroup(
    "memory",
    help=(
        "Memories of this repository: lessons from failures, facts of users, notes of sessions. At most 100"
        " of each kind are kept; the oldest lessons and notes are deleted, facts are not."
    ),
    examples=[
        ("asbuilt memory list", "lessons of runs, and facts of users"),
        ('asbuilt memory add "Redis 6 is what we run"', "a fact for the next plan"),
        ("asbuilt memory search redis --file src/api/store.py", "memories about it"),
        ("asbuilt memory clear m3", "delete one"),
    ],
    commands={
        "list": Lazy("memory:list_", "List memories, newest first"),
        "show": Lazy("memory:show", "Show one memory"),
        "add": Lazy("memory:add", "Add a memory in your own words"),
        "search": Lazy("memory:search", "Find memories by words or files"),
        "clear": Lazy("memory:clear", "Delete some memories, or all"),
    },
)
