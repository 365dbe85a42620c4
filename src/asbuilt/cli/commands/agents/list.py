"""`asbuilt agents list`: installed agents and their roles. Read-only; no model is called."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from asbuilt.agents.roster import SCRIPTED, assigned, roster
from asbuilt.agents.sandbox.launch import probe
from asbuilt.cli.commands.doctor.held import RINGS
from asbuilt.cli.commands.doctor.programs import version_of
from asbuilt.cli.shell.desk import desk_for
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.messages import next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, AsbuiltError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.agents.roster import Roster
    from asbuilt.settings import Settings

_HEADS: Final = ("AGENT", "VERSION", "SIGNED IN", "THROUGH", "RING", "ROLES")


class Row(NamedTuple):
    """The facts about an agent."""

    name: str
    program: str | None
    """Path of its program; None: not installed."""
    version: str | None = None
    signed_in: str = "unknown"
    """`by key` if a key of the agent is in the environment, else `unknown`."""
    through: str = ""
    ring: str = ""
    roles: tuple[str, ...] = ()
    install: str = ""
    """The install command of the missing adapter, if the agent's own program is installed."""


@click.command(
    "list",
    cls=Command,
    examples=[
        ("asbuilt agents list", "who is here"),
        ("asbuilt agents list --json", "the same for a script"),
    ],
)
@shared(json=True)
def command(door: Door) -> int:
    """List the agents that asbuilt drives: installed or not, how they are held, and who has which role."""
    settings = desk_for(door).settings
    rows = rows_of(settings, door.environ)
    if door.json:
        agents = [{**row._asdict(), "roles": list(row.roles)} for row in rows]
        door.screen.emit_json({"schema": "asbuilt.agents/1", "agents": agents})
        return DONE
    _show(door, rows)
    found = next((row.name for row in rows if row.program), None)
    if found is not None:
        next_command(door, f"asbuilt agents test {found}", "  a forbidden call must be refused")
    return DONE


def rows_of(settings: Settings, environ: Mapping[str, str]) -> list[Row]:
    """Return a row for every agent. Versions are read in parallel, because some take seconds."""
    there = roster(settings, environ)
    names = [*dict.fromkeys([*(kind for kind in there.kinds if kind != SCRIPTED), *there.defined])]
    roles = _roles(there, settings)
    with ThreadPoolExecutor(max_workers=4) as pool:
        return [*pool.map(lambda name: _row(there, name, environ, roles.get(name, ())), names)]


def _row(there: Roster, name: str, environ: Mapping[str, str], roles: tuple[str, ...]) -> Row:
    try:
        program = there.agent(name).program
    except AsbuiltError:
        return Row(name, None, install=next((one.install for one in there.lacking if one.name == name), ""))
    kind = there.kinds[program.kind]
    keys = [one for one in kind.variables if one.endswith(("_KEY", "_TOKEN")) and environ.get(one)]
    return Row(
        name,
        program.command[0],
        version_of(program.command[0], environ.get("PATH", "")),
        "by key" if keys else "unknown",
        kind.through,
        RINGS[probe().for_work] or "none",
        roles,
    )


def _roles(there: Roster, settings: Settings) -> dict[str, tuple[str, ...]]:
    try:
        team = assigned(there, settings)
    except AsbuiltError:
        return {}
    return {
        agent.name: tuple(role for role, one in team.items() if one.name == agent.name)
        for agent in team.values()
    }


def _show(door: Door, rows: list[Row]) -> None:
    screen, symbols = door.screen, door.screen.out.symbols
    cells = [
        (row.name, row.version or "?", row.signed_in, row.through, row.ring, ", ".join(row.roles) or "none")
        if row.program
        else (row.name, f"not installed: {row.install}" if row.install else "not installed", "", "", "", "")
        for row in rows
    ]
    shown = [_HEADS, *(one for one in cells if one[2])]
    names = max(len(row[0]) for row in (_HEADS, *cells))
    widths = [names, *(max(len(row[column]) for row in shown) for column in range(1, len(_HEADS)))]
    marks = [" ", *(_mark(row, symbols.proven, symbols.note, symbols.not_run) for row in rows)]
    for mark, row in zip(marks, (_HEADS, *cells), strict=True):
        fitted = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        screen.answer(printable(f"{mark} {fitted}").rstrip())


def _mark(row: Row, works: str, idle: str, missing: str) -> str:
    if row.program is None:
        return missing
    return works if row.roles else idle
