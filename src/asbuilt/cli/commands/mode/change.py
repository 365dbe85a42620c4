"""`asbuilt mode enter`, `exit` and `set`: turn plan mode of a conversation on or off.

Rule: an agent cannot turn it off.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click

from asbuilt.cli.commands.mode.show import words
from asbuilt.cli.commands.mode.which import Conversation, chosen, conversation_option, is_asked_by_agent
from asbuilt.cli.shell.desk import desk_for
from asbuilt.cli.shell.lazy import Command
from asbuilt.cli.shell.options import Door, shared
from asbuilt.cli.ui.messages import answer
from asbuilt.errors import DONE, GateStopped
from asbuilt.policy.plan_mode.hold import Hold, HoldUnreadable
from asbuilt.policy.plan_mode.mode import MODES, Entered, ExitAsked, ModeSet, Refused, State, step
from asbuilt.session.conversation import keep_hold
from asbuilt.session.locking import Locked

if TYPE_CHECKING:
    from asbuilt.policy.plan_mode.mode import Event, Mode

_KERNEL: Final = " The kernel still holds this conversation; leave it, and start another."
_SHIFT: Final = " Which mode Claude Code is in is its own to say: press Shift+Tab there."
_OWN: Final = " While Claude Code itself is in plan mode it is held again: press Shift+Tab there, or approve."


@click.command("enter", cls=Command, examples=[("asbuilt mode enter", "nothing changes but the plan")])
@conversation_option
@shared(json=False)
def enter(door: Door, conversation: str | None) -> int:
    """Turn plan mode on in a conversation, until you type `asbuilt mode exit`."""
    return _change(door, conversation, Entered(who="person"))


@click.command(
    "exit",
    cls=Command,
    examples=[
        ("asbuilt mode exit", "typed at a terminal of yours, in the folder of the conversation"),
        ("asbuilt mode exit --conversation 4711-90210", "where several are open"),
    ],
)
@conversation_option
@shared(json=False)
def exit_(door: Door, conversation: str | None) -> int:
    """Let a conversation go on, whatever holds planning in it.

    Only a person may: inside of the conversation it is refused. A plan that is approved there, or a prompt of
    yours in another mode, ends planning as well.
    """
    return _change(door, conversation, ExitAsked(who="person"))


@click.command("set", cls=Command, examples=[("asbuilt mode set plan", "the same as asbuilt mode enter")])
@click.argument("mode", type=click.Choice(MODES))
@conversation_option
@shared(json=False)
def set_(door: Door, mode: Mode, conversation: str | None) -> int:
    """Hold planning (`plan`), or let the conversation go on (any other mode).

    Which of the other modes Claude Code is in is its own to say: press Shift+Tab there.
    """
    return _change(door, conversation, ModeSet(mode=mode))


def _change(door: Door, key: str | None, event: Event) -> int:
    found = chosen(door, key)
    with Locked(found.folder):
        hold = _hold(door, found)
        state, said = step(State(mode="plan", before="default") if hold else State(), event)
        if any(isinstance(one, Refused) for one in said):
            raise GateStopped(
                f"planning is not held in {found.key}",
                why="Nothing holds it, so there is nothing to end.",
                next_step="asbuilt mode show",
            )
        if state.mode == "plan":
            held = hold or begun(door)
            held = held if held.by == "session" else held.changed(by="command")
            keep_hold(found.folder, held)
            answer(door, f"{found.key}   ", words(held))
        elif hold is None:
            answer(door, f"{found.key}   ", f"Planning is not held.{_SHIFT}")
        else:
            _let_go(door, found, hold)
    return DONE


def begun(door: Door) -> Hold:
    """Build the hold for plan mode that the user turns on: only a plan in the plans folder may be written."""
    library = desk_for(door).library
    plans = library.folder or library.user_folder
    return Hold(by="command", since=time.time(), root=str(door.start), plans=(str(plans),))


def _let_go(door: Door, found: Conversation, hold: Hold) -> None:
    if is_asked_by_agent(door, found.key):
        raise GateStopped(
            "an agent cannot end planning",
            why="It is over when a person approves the plan, or says so at a terminal of their own.",
            next_step=f"The person types: asbuilt mode exit --conversation {found.key}",
        )
    keep_hold(found.folder, None)
    still = _KERNEL if hold.by == "session" else _OWN
    answer(door, f"{found.key}   ", f"Planning is no longer held.{still}")


def _hold(door: Door, found: Conversation) -> Hold | None:
    """Read the hold. An unreadable one counts as on; it is then rewritten or removed."""
    try:
        return found.hold()
    except HoldUnreadable:
        return begun(door)
