"""`asbuilt init`: install asbuilt into the user's agents. Without options it lists what it can do."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING, Any, Final

import click

from asbuilt.cli.commands.init.claude import Rewrite, forgetting, naming, rewrite
from asbuilt.cli.commands.init.placing import NONE_PLACED, Placed, changes, place, take_away, would_take
from asbuilt.cli.commands.init.seats import Seat, seat_of
from asbuilt.cli.commands.init.tools import TOOLS
from asbuilt.cli.shell.desk import next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE, UsageWrong
from asbuilt.session.bytecode import compile_hooks

if TYPE_CHECKING:
    from collections.abc import Callable

_SCHEMA: Final = "asbuilt.init/1"


def _flags(command: Callable[..., int]) -> Callable[..., int]:
    for tool in reversed(TOOLS.values()):
        command = click.option(f"--{tool.name}", is_flag=True, help=f"{tool.title}: {tool.gets}")(command)
    return command


@click.command(
    "init",
    cls=Command,
    examples=[
        ("asbuilt init", "what can be set up, and what is"),
        ("asbuilt init --claude", "the plugin of Claude Code, for you alone"),
        ("asbuilt init --claude --dry-run", "what that would write; nothing is written"),
        ("asbuilt init --claude --remove", "take it away; settings are as they were"),
        ("asbuilt init --codex --gemini", "the same commands in other agents"),
    ],
)
@_flags
@click.option("--remove", is_flag=True, help="take it away again")
@click.option("--dry-run", is_flag=True, help="say what would happen, and write nothing")
@shared(json=True)
def command(door: Door, *, remove: bool, dry_run: bool, **chosen: bool) -> int:
    """Put asbuilt into the agent that you use. Nothing goes into a repository.

    For Claude Code a plugin is written into your data folder and named in your settings.json: two entries,
    spliced in, and nothing else in it changes by a byte.
    """
    seats = [seat_of(name, door.environ) for name in TOOLS if chosen[name]]
    if not seats:
        if remove or dry_run:
            raise UsageWrong(
                f"{'--remove' if remove else '--dry-run'} needs the name of an agent",
                why="Each has files of its own.",
                next_step="`asbuilt init --claude --remove` takes that of Claude Code away.",
            )
        return _overview(door)
    told = [(_remove if remove else _set_up)(door, seat, dry_run=dry_run) for seat in seats]
    if door.json:
        door.screen.emit_json({"schema": _SCHEMA, "dry_run": dry_run, "agents": told})
    elif not remove and not dry_run and any(seat.settings for seat in seats):
        door.screen.answer("Conversations that start from now on have it, open ones after /reload-plugins.")
        next_command(door, "asbuilt doctor", ", which tries the gate")
    return DONE


def _overview(door: Door) -> int:
    there = {name: bool(seat_of(name, door.environ).record.files) for name in TOOLS}
    if door.json:
        door.screen.emit_json({"schema": _SCHEMA, "set_up": there})
        return DONE
    screen = door.screen
    screen.answer("Put asbuilt into the agent that you use. Nothing goes into a repository.")
    screen.answer("")
    for name, tool in TOOLS.items():
        mark = screen.out.symbols.proven if there[name] else screen.out.symbols.not_started
        typed = screen.out.bold(f"{f'asbuilt init --{name}':<23}")
        screen.answer(f"{mark} {typed}  {tool.gets}")
    return DONE


def _set_up(door: Door, seat: Seat, *, dry_run: bool) -> dict[str, Any]:
    files, record = seat.files(), seat.record
    # Raise all refusals before anything is written.
    planned = changes(files, record, seat.shown)
    named = naming(seat, seat.settings) if seat.settings else None
    if not dry_run:
        record = place(files, planned, seat.top, record, seat.keep)
        if seat.settings and named:
            rewrite(seat.settings, named, record, seat.keep)
            compile_hooks()
    if not door.json:
        _tell(door, seat, planned, named, dry_run=dry_run)
    return _json(seat, planned, named)


def _remove(door: Door, seat: Seat, *, dry_run: bool) -> dict[str, Any]:
    record = seat.record
    named = forgetting(seat, seat.settings) if seat.settings else None
    # Another Claude Code configuration may still name the plugin; then its files stay.
    others = record.settings.keys() - {str(seat.settings)}
    planned = NONE_PLACED if others else would_take(record)
    if not dry_run:
        if seat.settings and named:
            record = rewrite(seat.settings, named, record, seat.keep)
        if not record.settings:
            planned = take_away(seat.top, record, seat.keep)
    if not door.json:
        _tell(door, seat, planned, named, dry_run=dry_run)
    return _json(seat, planned, named)


def _tell(door: Door, seat: Seat, placed: Placed, named: Rewrite | None, *, dry_run: bool) -> None:
    symbols = door.screen.out.symbols
    would = "would be " if dry_run else ""
    folder = printable(seat.shown(seat.folder))
    parts = [
        *([f"{counted(len(placed.written), 'file')} {would}written"] if placed.written else []),
        *([f"{counted(len(placed.removed), 'file')} {would}removed"] if placed.removed else []),
        *([f"{len(placed.left)} left: somebody changed them"] if placed.left else []),
    ]
    mark = symbols.not_started if dry_run else symbols.note if placed.left else symbols.proven
    door.screen.answer(f"{mark} {seat.tool.name:<9} {folder}   {', '.join(parts) or 'nothing to change'}")
    if seat.settings is None or named is None:
        return
    name = printable(seat.shown(seat.settings))
    if named.before == named.after:
        said = "nothing to change"
    elif named.after is None:
        said = f"{would}removed; it was not there before"
    elif named.before is None:
        said = f"{would}written"
    else:
        said = f"2 entries {would}{'taken out' if named.kept is None else 'added'}, nothing else"
    mark = symbols.not_started if dry_run else symbols.proven
    door.screen.answer(f"{mark} {'settings':<9} {name}   {said}")
    if dry_run:
        before, after = ((text or "").splitlines() for text in (named.before, named.after))
        for line in list(unified_diff(before, after, lineterm="", n=1))[2:]:
            door.screen.answer(f"    {printable(line)}".rstrip())


def _json(seat: Seat, placed: Placed, named: Rewrite | None) -> dict[str, Any]:
    return {
        "agent": seat.tool.name,
        "folder": str(seat.folder),
        "written": [str(file) for file in placed.written],
        "removed": [str(file) for file in placed.removed],
        "left": [str(file) for file in placed.left],
        "settings": str(seat.settings) if seat.settings else None,
        "settings_changed": named is not None and named.before != named.after,
    }
