"""Memories of the current repository. Reading them creates nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

from asbuilt.cli.shell.reading import look
from asbuilt.cli.ui.clock import stamp
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import NotFound
from asbuilt.journal import memory
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.memory import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.cli.shell.options import Door
    from asbuilt.cli.shell.reading import Looking
    from asbuilt.lifecycle.memory import Memory

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
    for one in memories:
        if typed and one.number == int(typed[1]):
            return one
    raise NotFound(
        f'nothing is remembered under "{name}"',
        why="What is remembered has a name like m3.",
        next_step="`asbuilt memory list`",
    )


def tell(door: Door, memories: Iterable[Memory], *, empty: str) -> None:
    """Show each memory on its line, or that there are none."""
    listed = list(memories)
    if door.json:
        rows = [plain(one) for one in listed]
        door.screen.emit_json({"schema": "asbuilt.memories/1", "memories": rows})
    elif not listed:
        door.screen.answer(empty)
    else:
        for one in listed:
            answer(door, printable(f"{one.name:<5}{one.kind:<14}"), printable(one.text), under=5)


def plain(one: Memory) -> dict[str, Any]:
    """Return a memory as JSON data."""
    return {"name": one.name, **one._asdict(), "files": list(one.files), "at": stamp(one.at)}
