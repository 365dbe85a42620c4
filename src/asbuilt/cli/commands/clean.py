"""`asbuilt clean`: list what can be deleted, and why that is safe. Deletes only with --yes."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import click

from asbuilt.cli.shell.desk import complete_plan, next_command
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import look_at, site_of
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted, size
from asbuilt.errors import DONE, AsbuiltError
from asbuilt.flows.cleanup.leftovers import Leavings, Thing
from asbuilt.flows.cleanup.shared import Commons
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.retention import DAYS, Goes, Stays

if TYPE_CHECKING:
    from asbuilt.cli.shell.site import Site

_ONE_BY_ONE: Final = 5
"""Up to this number of things of one kind, with the same reason, are listed by name."""


@click.command(
    "clean",
    cls=Command,
    examples=[
        ("asbuilt clean", "what can go, with the proof; nothing is removed"),
        ("asbuilt clean --yes", "remove it"),
        ("asbuilt clean rate-limit", "only what runs of this plan have left"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@click.option("--yes", is_flag=True, help="remove what is shown to be safe")
@click.option(
    "--days", type=click.IntRange(min=0), default=DAYS, metavar="N", help="keep what is younger than N days"
)
@shared(json=True)
def command(door: Door, plan: str | None, *, yes: bool, days: int) -> int:
    """Show old workspaces, logs and other leftovers that can be deleted without loss."""
    site = site_of(door, plan) if plan is not None else look_at(door)[1]
    things = [] if site is None else _find(site, plan, days)
    can_go = [one for one in things if isinstance(one.fate, Goes)]
    if yes:
        things = [_removed(one) if isinstance(one.fate, Goes) else one for one in things]
        can_go = [one for one in things if isinstance(one.fate, Goes)]
    if door.json:
        rows = [_json(one, removed=yes) for one in things]
        door.screen.emit_json({"schema": "asbuilt.clean/1", "removed": yes, "things": rows})
        return DONE
    _show(door, "Gone" if yes else "Can go", can_go)
    _show(door, "Stays", [one for one in things if isinstance(one.fate, Stays)])
    space = size(sum(one.size for one in can_go))
    if not can_go:
        door.screen.answer("Nothing can go.")
    elif yes:
        door.screen.answer(f"Removed {counted(len(can_go), 'thing')}, {space}.")
    else:
        door.screen.answer(f"{counted(len(can_go), 'thing')} can go, {space}. Nothing was removed.")
        next_command(door, " ".join(["asbuilt clean", *([plan] if plan else []), *_days(days), "--yes"]))
    return DONE


def _find(site: Site, plan: str | None, days: int) -> list[Thing]:
    home, store, blobs = site.journal
    of = None if plan is None else site.address(plan)
    left = Leavings(site.journal, site.repository, repo=site.repo, plan=of)
    found = [*left.find(days=days)]
    if plan is None:
        found += left.strange()
        found += Commons(home, store, blobs, org=LOCAL, repo=site.repo).find(days=days)
    return found


def _removed(one: Thing) -> Thing:
    """Remove a thing. If it has changed since it was listed, it stays, with the reason."""
    try:
        one.remove()
    except AsbuiltError as error:
        return one._replace(fate=Stays(error.what))
    except OSError as error:
        return one._replace(fate=Stays(error.strerror or str(error)))
    return one


def _show(door: Door, title: str, things: list[Thing]) -> None:
    if things:
        door.screen.answer(title)
    for (kind, fate), group in groupby(sorted(things, key=_kind), key=_kind):
        alike = list(group)
        if len(alike) > _ONE_BY_ONE:
            _row(door, counted(len(alike), kind), sum(one.size for one in alike), fate)
            continue
        for one in alike:
            _row(door, f"{kind} {one.name}", one.size, fate)


def _kind(one: Thing) -> tuple[str, str]:
    return one.kind, one.fate.why


def _row(door: Door, what: str, space: int, why: str) -> None:
    taken = f", {size(space)}" if space else ""
    for row in door.screen.out.hanging("  ", printable(f"{what}{taken}: {why}"), commands=False, under=4):
        door.screen.answer(row)


def _days(days: int) -> list[str]:
    return [] if days == DAYS else ["--days", str(days)]


def _json(one: Thing, *, removed: bool) -> dict[str, Any]:
    goes = isinstance(one.fate, Goes)
    return {
        "kind": one.kind,
        "name": one.name,
        "bytes": one.size,
        "can_go": goes,
        "removed": goes and removed,
        "why": one.fate.why,
    }
