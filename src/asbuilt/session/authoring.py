"""What a conversation authors just now, and the words that its person has typed for it.

The one rule: what cannot be read is put aside whole and binds nobody.
"""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from asbuilt.policy.notation import read, write
from asbuilt.session.conversation import put, remove, text_in

COMMAND: Final = "/asbuilt:author"
NEXT: Final = "asbuilt author next"
MOST: Final = 6
"""So often in a row a turn is kept from ending; then the agent calls a tool first. Claude Code itself ends a
turn that was kept from it more than eight times without one."""
_BOUND: Final = "authoring"
_ASIDE: Final = "authoring.unreadable"
_WORDS: Final = "authoring.words"


class Bound(NamedTuple):
    """The authoring that a conversation does."""

    run: str
    repo: str
    root: str
    """The checkout that it was begun in."""
    slug: str
    asked: str = ""
    """The output that its agent was last asked for: `draft/2`; empty: what it says is none."""
    stops: int = 0
    """Turns in a row that were kept from ending."""
    is_new: bool = False
    """Its agent has not seen what was handed in before."""


class BoundUnreadable(Exception):
    """Nobody can say what a conversation authors."""


def is_bound(folder: str) -> bool:
    """Tell whether a conversation authors something; nothing is read."""
    return os.path.lexists(f"{folder}/{_BOUND}")


def bound_in(folder: str) -> Bound | None:
    """Read what a conversation authors; None: nothing."""
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
    """Keep what a conversation authors, or that it is nothing any more."""
    if bound is None:
        remove(folder, _BOUND)
    else:
        put(folder, _BOUND, write(bound._asdict()))


def move(folder: str, to: str) -> None:
    """Let another conversation go on with what one that has ended has authored."""
    try:
        os.makedirs(to, mode=0o700, exist_ok=True)
        os.replace(f"{folder}/{_BOUND}", f"{to}/{_BOUND}")
    except FileNotFoundError:
        pass


def put_aside(folder: str) -> str:
    """Let a conversation go whose state nobody can read, and keep the state; return where."""
    kept = f"{folder}/{_ASIDE}"
    os.replace(f"{folder}/{_BOUND}", kept)
    return kept


def words_in(prompt: str) -> str | None:
    """Find what is typed behind the command, as it is typed; None: it is another prompt."""
    text = prompt.lstrip()
    rest = text.removeprefix(COMMAND)
    return None if rest == text or rest[:1].strip() else rest.strip()


def keep_words(folder: str, words: str) -> None:
    """Keep what a person has typed until the command asks for it."""
    put(folder, _WORDS, words)


def take_words(folder: str) -> str | None:
    """Take what a person has typed, once; None: nothing."""
    try:
        words = text_in(folder, _WORDS)
    except (OSError, ValueError):
        words = None
    remove(folder, _WORDS)
    return words
