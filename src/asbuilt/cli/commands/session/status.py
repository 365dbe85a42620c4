"""`asbuilt session status`: context use, plan and plan mode of a conversation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from asbuilt.cli.commands.session.here import here
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.clock import at
from asbuilt.cli.ui.messages import answer, headline, next_command
from asbuilt.errors import DONE
from asbuilt.policy.plan_mode.hold import HoldUnreadable
from asbuilt.session import words
from asbuilt.session.context.meter import limits_of, use_of
from asbuilt.session.context.transcript import last_said
from asbuilt.session.conversation import hold_in
from asbuilt.session.state import loop_in

if TYPE_CHECKING:
    from asbuilt.policy.plan_mode.hold import Hold
    from asbuilt.session.loop import Loop

_BY = {"mode": "plan mode", "command": "asbuilt mode enter", "session": "asbuilt session --plan"}


@click.command(
    "status",
    cls=Command,
    examples=[
        ("asbuilt session status", "typed by you or your agent inside a conversation"),
        ("asbuilt session status --json", "for a script"),
    ],
)
@shared(json=True)
def command(door: Door) -> int:
    """Show how full the context of this conversation is, its plan, and whether plan mode is on."""
    place = here(door)
    state, limits = place.state, limits_of(door.environ)
    plan = place.plans.look(state.plan) if state.plan else None
    use = use_of(last_said(state.transcript), limits=limits, told_window=state.window)
    loop = loop_in(place.folder) if place.key else None
    held, hold = _held(place.folder) if place.key else ("not held", None)
    if door.json:
        door.screen.emit_json(
            {
                "schema": "asbuilt.session/1",
                "conversation": place.key or None,
                "context": {"percent": use.percent, "window": use.window} if state.transcript else None,
                "plan": {"path": plan.path, "name": plan.name, "open": list(plan.open)} if plan else None,
                "planning": held,
                "mode_before": hold.before or None if hold else None,
                "loop": {"round": loop.iteration, "of": loop.most} if loop else None,
                "stopped_for": list(state.stopped_for),
                "complaints": list(limits.complaints),
            }
        )
        return DONE
    for complaint in limits.complaints:
        door.screen.talk(f"{door.screen.err.symbols.note} {complaint}.")
    if not place.key:
        door.screen.answer("This terminal is in no conversation.")
        next_command(door, "asbuilt session list")
        return DONE
    if plan is not None:
        headline(door, plan.name, f"{words.standing(plan)} ({plan.shown})")
    told = [f"Context {use.percent}% of {words.tokens(use.window)}."] if state.transcript else []
    answer(door, "", " ".join([*told, *_planning(held, hold), *_rest(loop, state.stopped_for)]))
    return DONE


def _held(folder: str) -> tuple[str, Hold | None]:
    try:
        hold = hold_in(folder)
    except HoldUnreadable:
        return "unreadable", None
    return ("held" if hold else "not held"), hold


def _planning(held: str, hold: Hold | None) -> list[str]:
    if held == "unreadable":
        return [
            "Whether planning is held cannot be read, so everything is refused: asbuilt mode exit ends it."
        ]
    if hold is None:
        return ["Planning is not held."]
    since = at(datetime.fromtimestamp(hold.since, UTC).isoformat(), datetime.now(UTC))
    then = f" Mode plan, then {hold.before}." if hold.before else ""
    return [f"Planning held since {since} by {_BY[hold.by]}.{then}"]


def _rest(loop: Loop | None, stopped_for: tuple[str, ...]) -> list[str]:
    rows = [f"Round {loop.iteration} of {loop.most}."] if loop else []
    return rows + [f"A turn was kept from ending once: {reason}." for reason in stopped_for]
