"""`asbuilt clean`: count what can be deleted without loss. Deletes only with --yes."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any, Final

import click

from asbuilt.cli.shell.options import Door, subcommand
from asbuilt.cli.shell.plan_context import complete_plan
from asbuilt.cli.shell.run_context import Site, look_at, site_of
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.cli.ui.screen import printable
from asbuilt.cli.ui.words import counted, listed, size
from asbuilt.errors import AsbuiltError
from asbuilt.flows.cleanup import Commons, Leavings, Thing
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.retention import Goes, Stays

_ONE_BY_ONE: Final = 5
"""Up to this number of things of one kind, with the same reason, are listed by name."""


@subcommand(
    "clean",
    ("asbuilt clean", "count what can be deleted; nothing is deleted"),
    ("asbuilt clean -v", "list it, and why that is safe"),
    ("asbuilt clean --yes", "delete it"),
    ("asbuilt clean rate-limit", "only leftovers of this plan"),
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@click.option("--yes", is_flag=True, help="delete what is safe to delete")
@click.option(
    "--days", type=click.IntRange(min=0), metavar="N", help="keep what is younger; default: retention.days"
)
def command(door: Door, plan: str | None, *, yes: bool, days: int | None) -> None:
    """Show old workspaces, logs and other leftovers that can be deleted without loss."""
    site = site_of(door, plan) if plan is not None else look_at(door)[1]
    things = [] if site is None else _find(site, plan, days)
    can_go = [thing for thing in things if isinstance(thing.fate, Goes)]
    if yes:
        things = [_removed(thing) if isinstance(thing.fate, Goes) else thing for thing in things]
        can_go = [thing for thing in things if isinstance(thing.fate, Goes)]
    rows = [_json(thing, removed=yes) for thing in things]
    if door.emitted("asbuilt.clean/1", {"removed": yes, "things": rows}):
        return
    if door.screen.verbose:
        _show(door, "Deleted" if yes else "Can be deleted", can_go)
        _show(door, "Kept", [thing for thing in things if isinstance(thing.fate, Stays)])
    kept = len(things) - len(can_go)
    door.screen.answer(_summary(can_go, yes=yes) + (f" {counted(kept, 'thing')} kept." if kept else ""))
    if can_go and not yes:
        command = " ".join(
            ["asbuilt clean", *([plan] if plan else []), *([] if days is None else ["--days", str(days)])]
        )
        other = "" if door.screen.verbose else f"list everything: `{command} -v`"
        next_command(door, f"{command} --yes", other=other)
    else:
        next_command(door, "asbuilt status")


def _summary(can_go: list[Thing], *, yes: bool) -> str:
    if not can_go:
        return "Nothing to delete."
    by_kind = Counter(thing.kind for thing in can_go)
    kinds = listed([counted(number, kind) for kind, number in sorted(by_kind.items())])
    return f"{'Deleted' if yes else 'Can be deleted'}: {kinds}, {size(sum(thing.size for thing in can_go))}."


def _find(site: Site, plan: str | None, days: int | None) -> list[Thing]:
    home, store, blobs = site.journal
    of = None if plan is None else site.address(plan)
    left = Leavings(site.journal, site.repository, repo=site.repo, plan=of)
    kept = site.desk.settings.number("retention.days") if days is None else days
    found = [*left.find(days=kept)]
    if plan is None:
        found += left.strange()
        found += Commons(home, store, blobs, org=LOCAL, repo=site.repo).find(days=kept)
    return found


def _removed(thing: Thing) -> Thing:
    """Remove a thing. If it has changed since it was listed, it stays, with the reason."""
    try:
        thing.remove()
    except AsbuiltError as error:
        return thing._replace(fate=Stays(error.what))
    except OSError as error:
        return thing._replace(fate=Stays(error.strerror or str(error)))
    return thing


def _show(door: Door, title: str, things: list[Thing]) -> None:
    if things:
        door.screen.answer(title)
    for (kind, fate), group in groupby(sorted(things, key=_kind), key=_kind):
        alike = list(group)
        if len(alike) > _ONE_BY_ONE:
            _row(door, counted(len(alike), kind), sum(thing.size for thing in alike), fate)
            continue
        for thing in alike:
            _row(door, f"{kind} {thing.name}", thing.size, fate)


def _kind(thing: Thing) -> tuple[str, str]:
    return thing.kind, thing.fate.why


def _row(door: Door, what: str, space: int, why: str) -> None:
    taken = f", {size(space)}" if space else ""
    answer(door, "  ", printable(f"{what}{taken}: {why}"), under=4)


def _json(thing: Thing, *, removed: bool) -> dict[str, Any]:
    goes = isinstance(thing.fate, Goes)
    return {
        "kind": thing.kind,
        "name": thing.name,
        "bytes": thing.size,
        "can_go": goes,
        "removed": goes and removed,
        "why": thing.fate.why,
    }
