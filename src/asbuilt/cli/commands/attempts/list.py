"""`asbuilt attempts list`: every attempt, how it ended, and where its files are kept. Read-only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from asbuilt.cli.commands.attempts.kept import Kept, every
from asbuilt.cli.shell.desk import complete_plan, next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import look_at, site_of
from asbuilt.cli.ui.clock import at, stamp
from asbuilt.cli.ui.screen import cut, printable
from asbuilt.cli.ui.words import counted
from asbuilt.errors import DONE
from asbuilt.git.changes import changes

if TYPE_CHECKING:
    from asbuilt.cli.shell.site import Site
    from asbuilt.cli.ui.screen import Pen


@click.command(
    "list",
    cls=Command,
    examples=[
        ("asbuilt attempts list", "of every plan here"),
        ("asbuilt attempts list rate-limit", "of one plan"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@shared(json=True)
def command(door: Door, plan: str | None) -> int:
    """List attempts, the newest first: who worked as what, how it ended, and where its files are kept."""
    site = site_of(door, plan) if plan is not None else look_at(door)[1]
    listed = [] if site is None else every(site, plan)
    files = {one.attempt.id: _files(site, one) for one in listed if site is not None}
    if door.json:
        rows = [_json(one, files[one.attempt.id]) for one in listed]
        door.screen.emit_json({"schema": "asbuilt.attempts/1", "attempts": rows})
        return DONE
    if not listed:
        door.screen.answer("No agent has worked here.")
        return DONE
    now = datetime.now(UTC)
    for one in listed:
        _show(door, one, files[one.attempt.id], now)
    kept = next((one.attempt.name for one in listed if one.commit is not None), None)
    if kept is not None:
        next_command(door, f"asbuilt attempts diff {kept}")
    return DONE


def _files(site: Site, one: Kept) -> int | None:
    return None if one.commit is None else len(changes(site.repository, one.commit))


def _show(door: Door, one: Kept, files: int | None, now: datetime) -> None:
    pen, facts = door.screen.out, one.attempt.facts
    when = at(facts.ended_at or facts.began_at, now)
    changed = "nothing kept" if files is None else f"{counted(files, 'file')} changed"
    lead = f"{_symbol(pen, one)} {printable(one.attempt.name)}  "
    for row in pen.hanging(lead, f"{facts.role}, {ending(one)} {when}, {changed}", commands=False, under=2):
        door.screen.answer(row)
    if files is not None:
        door.screen.answer(f"  {pen.dim(cut(one.ref, pen.width - 2, symbols=pen.symbols))}")


def _symbol(pen: Pen, one: Kept) -> str:
    facts, symbols = one.attempt.facts, pen.symbols
    if one.attempt.is_proven:
        return symbols.proven
    if facts.ending is None:
        return symbols.working
    return symbols.failed if facts.failures else symbols.not_run


def ending(one: Kept) -> str:
    """Return how an attempt ended: what its agent said, and whether asbuilt has proven it."""
    facts = one.attempt.facts
    if facts.ending is None:
        return "under way since"
    if facts.ending != "done":
        return facts.ending.replace("_", " ")
    if one.attempt.is_proven:
        return "proven"
    return "says done, not proven" if facts.failures else "says done, not judged"


def _json(one: Kept, files: int | None) -> dict[str, Any]:
    facts = one.attempt.facts
    return {
        "attempt": one.attempt.name,
        "phase": one.attempt.phase,
        "role": facts.role,
        "ending": facts.ending,
        "proven": one.attempt.is_proven,
        "began_at": stamp(facts.began_at),
        "ended_at": stamp(facts.ended_at) if facts.ended_at else None,
        "files": files,
        "ref": one.ref if one.commit else None,
        "commit": one.commit,
    }
