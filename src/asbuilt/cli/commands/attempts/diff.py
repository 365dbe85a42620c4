"""`asbuilt attempts diff`: what an attempt changed against its base. Read-only; starts no pager."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from asbuilt.cli.commands.attempts.kept import complete_attempt, the_kept
from asbuilt.cli.shell.desk import next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.screen import cut, printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE
from asbuilt.git.changes import base_of, changes, patch

if TYPE_CHECKING:
    from asbuilt.git.changes import Change


@click.command(
    "diff",
    cls=Command,
    examples=[
        ("asbuilt attempts diff rate-limit.1.2a.2", "which files, and by how many lines"),
        ("asbuilt attempts diff rate-limit.1.2a.2 --patch", "line by line, as git shows it"),
    ],
)
@click.argument("attempt", shell_complete=complete_attempt)
@click.option("--patch", "whole", is_flag=True, help="the changed lines too")
@shared(json=True)
def command(door: Door, attempt: str, *, whole: bool) -> int:
    """Show what an attempt changed against what its phase was built on."""
    site, kept, commit = the_kept(door, attempt)
    base = base_of(site.repository, commit)
    changed = changes(site.repository, commit)
    text = patch(site.repository, commit).decode("utf-8", "surrogateescape") if whole else None
    if door.json:
        files = [one._asdict() for one in changed]
        told = {"attempt": kept.attempt.name, "base": base, "commit": commit, "files": files, "patch": text}
        door.screen.emit_json({"schema": "asbuilt.attempt/1", **told})
        return DONE
    name = door.screen.out.bold(kept.attempt.name)
    door.screen.answer(f"{name}   {counted(len(changed), 'file')} changed against {base[:7]}")
    for one in changed:
        _show(door, one)
    if text is None:
        next_command(door, f"asbuilt attempts diff {kept.attempt.name} --patch")
        return DONE
    door.screen.answer()
    for line in printable(text, lines=True).splitlines():
        door.screen.answer(line)
    return DONE


def _show(door: Door, one: Change) -> None:
    pen = door.screen.out
    lines = "binary" if one.added is None else f"+{one.added} -{one.removed}"
    path = cut(printable(one.path), pen.width - len(lines) - 4, symbols=pen.symbols)
    door.screen.answer(f"  {path}  {lines}")
