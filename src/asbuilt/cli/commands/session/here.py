"""The conversation in which a command is typed, and the plans around it.

Rule: outside of a conversation nothing is stored, and no command fails because of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt import wiring
from asbuilt.library.conversing import Plans
from asbuilt.session.conversation import folder_of, key_of, lives
from asbuilt.session.state import State, state_in

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door


class Here(NamedTuple):
    """Where a command about conversations is typed."""

    key: str
    """Key of the conversation around it; empty: the user's own terminal."""
    folder: str
    plans: Plans

    @property
    def state(self) -> State:
        """The stored state of the conversation."""
        return (state_in(self.folder) if self.key else None) or State()


def here(door: Door) -> Here:
    """Find the conversation and the plans around the command."""
    key = key_of(door.environ)
    key = key if key and lives(key) else ""
    environ = door.environ
    plans = Plans(str(door.start), environ, lambda *which: wiring.plan_events(which[0], environ, *which[1:]))
    return Here(key, folder_of(environ, key), plans)
