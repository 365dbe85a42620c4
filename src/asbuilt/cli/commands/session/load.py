"""`asbuilt session load`: show a plan, and make it the plan of the conversation around the command."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from asbuilt.cli.commands.session.here import here
from asbuilt.cli.shell.desk import complete_plan
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.screen import printable
from asbuilt.errors import DONE, NotFound
from asbuilt.session import words
from asbuilt.session.context import reload as reloads
from asbuilt.session.locking import Locked
from asbuilt.session.state import keep_state

if TYPE_CHECKING:
    from asbuilt.cli.commands.session.here import Here
    from asbuilt.session.facts import PlanFacts


@click.command(
    "load",
    cls=Command,
    examples=[
        ("asbuilt session load", "the plan of this conversation, else the newest one here"),
        ("asbuilt session load rate-limit", "the plan of that name, or of which it is a part"),
        ("asbuilt session load --json", "what is known of it, for a script"),
    ],
)
@click.argument("plan", required=False, shell_complete=complete_plan)
@shared(json=True)
def command(door: Door, plan: str | None) -> int:
    """Show a plan as it stands, and make it the plan of this conversation: /clear brings it back then.

    At a terminal of your own it is only shown.
    """
    place = here(door)
    found = _found(place, plan)
    if place.key:
        with Locked(place.folder):
            reloads.drop(place.folder)
            known = place.state._replace(plan=found.path, approved=True, cwd=str(door.start), at=time.time())
            keep_state(place.folder, known)
    if door.json:
        door.screen.emit_json({"schema": "asbuilt.session-plan/1", **found._asdict()})
        return DONE
    for row in words.loaded(found).split("\n"):
        door.screen.answer(printable(row))
    return DONE


def _found(place: Here, name: str | None) -> PlanFacts:
    if name:
        return place.plans.named(name)
    own = place.plans.look(place.state.plan) if place.state.plan else None
    found = own or place.plans.newest()
    if found is None:
        raise NotFound(
            "no plan here is open",
            why="Without a name, the plan of this conversation is meant, or the newest one that is not done.",
            next_step="`asbuilt session list`, then name one",
        )
    return found
