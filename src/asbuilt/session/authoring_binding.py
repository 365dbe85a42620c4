"""The authoring that a conversation is bound to.

Rule: an unreadable binding is put aside as a whole and binds nothing.
"""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from asbuilt.policy.light_json import read, write
from asbuilt.session.conversation import put, remove, text_in

NEXT: Final = "asbuilt author next"
WORK: Final = " Plan mode is off; work may start."
MOST: Final = 6
"""Number of turns in a row that may be blocked; then the agent has to call a tool. Claude Code ends a turn
that was blocked more than eight times without a tool call."""
_BOUND: Final = "authoring"
_ASIDE: Final = "authoring.unreadable"


class Bound(NamedTuple):
    """The authoring that a conversation is bound to."""

    run: str
    repo: str
    root: str
    """The checkout in which the authoring was started."""
    slug: str
    asked: str = ""
    """The output that the agent was last asked for, as `draft/2`; empty: its message is not an output."""
    stops: int = 0
    """Number of turns in a row that were blocked."""
    is_new: bool = False
    """The agent's context does not contain the earlier outputs."""
    file: str = ""
    """The plan that an interview grows; empty: the agent's last message is the output."""


class BoundUnreadable(Exception):
    """The binding of a conversation cannot be read."""


def is_bound(folder: str) -> bool:
    """Return whether a conversation is bound; reads nothing."""
    return os.path.lexists(f"{folder}/{_BOUND}")


def bound_in(folder: str) -> Bound | None:
    """Read the binding of a conversation; None if it has none."""
    try:
        text = text_in(folder, _BOUND)
        fields = None if text is None else read(text)
    except (OSError, ValueError) as error:
        raise BoundUnreadable(str(error)) from error
    if fields is None and text is None:
        return None
    if not isinstance(fields, dict) or fields.keys() != set(Bound._fields):
        raise BoundUnreadable("it was written by another version, or damaged")
    sound = Bound("", "", "", "")
    if any(type(fields[name]) is not type(getattr(sound, name)) for name in Bound._fields):
        raise BoundUnreadable("it is damaged")
    return Bound(**fields)


def bind(folder: str, bound: Bound | None) -> None:
    """Store the binding of a conversation, or remove it."""
    if bound is None:
        remove(folder, _BOUND)
    else:
        put(folder, _BOUND, write(bound._asdict()))


def move(folder: str, to: str) -> None:
    """Move the binding of an ended conversation to the one that continues it."""
    try:
        os.makedirs(to, mode=0o700, exist_ok=True)
        os.replace(f"{folder}/{_BOUND}", f"{to}/{_BOUND}")
    except FileNotFoundError:
        pass


def put_aside(folder: str) -> str:
    """Unbind a conversation whose binding cannot be read; return where the file is kept."""
    kept = f"{folder}/{_ASIDE}"
    os.replace(f"{folder}/{_BOUND}", kept)
    return kept
