"""`asbuilt mode show`: whether plan mode is on in a conversation. Read-only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from asbuilt.cli.commands.mode.which import Conversation, chosen, conversation_option
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.clock import at
from asbuilt.cli.ui.messages import answer, next_command
from asbuilt.errors import DONE
from asbuilt.policy.plan_mode.hold import HoldUnreadable

if TYPE_CHECKING:
    from asbuilt.policy.plan_mode.hold import Hold

BY: Final = {"mode": "plan mode", "command": "asbuilt mode enter", "session": "asbuilt session --plan"}


@click.command(
    "show",
    cls=Command,
    examples=[
        ("asbuilt mode show", "typed by you or your agent inside a conversation, or in its folder"),
        ("asbuilt mode show --json", "for a script"),
    ],
)
@conversation_option
@shared(json=True)
def command(door: Door, conversation: str | None) -> int:
    """Show whether plan mode is on, since when, and what turned it on."""
    found = chosen(door, conversation)
    try:
        hold = found.hold()
    except HoldUnreadable as error:
        if door.json:
            _emit(door, found, "unreadable", None)
            return DONE
        answer(door, "", f"Planning counts as held, because that cannot be read ({error}).")
        next_command(door, f"asbuilt mode exit --conversation {found.key}", ", typed by you")
        return DONE
    if door.json:
        _emit(door, found, "held" if hold else "not held", hold)
        return DONE
    answer(door, f"{found.key}   ", words(hold))
    return DONE


def words(hold: Hold | None) -> str:
    """Describe a hold in a sentence."""
    if hold is None:
        return "Planning is not held."
    since = at(datetime.fromtimestamp(hold.since, UTC).isoformat(), datetime.now(UTC))
    then = f" Mode plan, then {hold.before}." if hold.before else ""
    plan = f" It may write {', '.join(hold.plans)}." if hold.plans else ""
    return f"Planning is held since {since} by {BY[hold.by]}.{then}{plan}"


def _emit(door: Door, found: Conversation, planning: str, hold: Hold | None) -> None:
    door.screen.emit_json(
        {
            "schema": "asbuilt.mode/1",
            "conversation": found.key,
            "planning": planning,
            "by": hold.by if hold else None,
            "since": datetime.fromtimestamp(hold.since, UTC).isoformat() if hold else None,
            "before": hold.before or None if hold else None,
            "plans": list(hold.plans) if hold else [],
        }
    )
