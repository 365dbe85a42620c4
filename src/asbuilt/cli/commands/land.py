"""`asbuilt land`: move proven commits to their branch, or revert landed ones. All of them, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import UNSET, structs

from asbuilt.cli.commands.run import ask_for
from asbuilt.cli.shell.addresses import never_ran
from asbuilt.cli.shell.desk import complete_plan
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.shell.site import site_of
from asbuilt.errors import GateStopped, NotFound
from asbuilt.journal import runs
from asbuilt.journal.queries.overview import events_of
from asbuilt.lifecycle.status.standing import fold_plan

if TYPE_CHECKING:
    from asbuilt.cli.shell.site import Site
    from asbuilt.journal.ids import Address


@click.command(
    "land",
    cls=Command,
    examples=[
        ("asbuilt land rate-limit", "move what is proven to its branch"),
        ("asbuilt land rate-limit --undo", "one revert for each landed commit; the plan is open again"),
    ],
)
@click.argument("plan", shell_complete=complete_plan)
@click.option("--undo", is_flag=True, help="take back what the last run landed")
@shared(json=True)
def command(door: Door, plan: str, *, undo: bool) -> int:
    """Land proven commits on the target branch. If that is not possible, nothing moves."""
    site = site_of(door, plan)
    address = site.address(plan)
    with site.journal.store.read() as session:
        listed = runs.of_plan(session, address, limit=1)
    if not listed:
        raise never_ran(plan)
    last = listed[0]
    options = structs.replace(
        last.options,
        kind="undo" if undo else "land",
        auto=True,
        hold=False,
        desktop=site.desk.settings.flag("attention.desktop"),
        # Undo the newest run whose work is still landed, not one that was already undone.
        of=_newest(site, address, plan, by_pull=last.options.landing == "pr") if undo else UNSET,
    )
    return ask_for(door, site, address, last.options.slug, options)


def _newest(site: Site, address: Address, plan: str, *, by_pull: bool) -> str:
    """Return the newest run that was not undone. Raise if it landed by a pull request."""
    with site.journal.store.read() as session:
        standing = fold_plan(events_of(session, site.journal.blobs, address))
    newest = standing.newest
    if newest is None:
        raise NotFound(
            f"nothing of {plan} is proven or landed here",
            why="Only what asbuilt has brought there can be taken back by it.",
            next_step=f"`asbuilt status {plan}` shows what there is.",
        )
    if by_pull and (landed := standing.landed_by(newest)):
        raise GateStopped(
            f"{plan} has landed by a pull request, and only another one takes it back",
            why="A revert in this clone would never reach the branch at the forge.",
            next_step="Revert it at the forge; then open what is to be done again, phase by phase:"
            f" `asbuilt plan mark {plan} {landed[0].phase} pending`",
        )
    return newest
