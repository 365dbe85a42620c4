"""What asbuilt remembers of one conversation between two events.

The one rule: what cannot be read counts as nothing remembered; it only informs, and never stops anybody.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from asbuilt.policy.notation import read, write
from asbuilt.session.conversation import put, remove, text_in
from asbuilt.session.loop import Loop, from_file

USABLE_S: Final = 3_600
"""So long a state says something about what is going on; for longer it is history."""
KEPT_S: Final = 24 * 3_600
_STATE: Final = "state"
_LOOP: Final = "loop"


class State(NamedTuple):
    """One conversation, as its last event left it."""

    session: str = ""
    transcript: str = ""
    size: int = 0
    """Of the transcript, in bytes."""
    at: float = 0.0
    cwd: str = ""
    plan: str = ""
    """The plan that it works on; empty: none."""
    approved: bool = False
    """Whether a person has said yes to that plan, or named it."""
    window: int = 0
    """The size of its context as the status line told it; 0: it did not."""
    warned: bool = False
    """It was told that this context is half full."""
    stopped_for: tuple[str, ...] = ()
    """Every reason for which a turn of this context was kept from ending."""
    reminded: int = 0
    """How often it was told that asbuilt holds planning, since that began."""
    turns: int = 0
    """Prompts of a person since it was last told so."""

    def with_fresh_context(self) -> State:
        """Forget what was said in the context before."""
        return self._replace(warned=False, stopped_for=(), reminded=0, turns=0)


def state_in(folder: str) -> State | None:
    """Read what is remembered; None: nothing."""
    try:
        value = read(text_in(folder, _STATE) or "")
    except (OSError, ValueError):
        return None
    fields = value if isinstance(value, dict) else {}
    known = {name: fields[name] for name in State._fields if name in fields}
    reasons = known.pop("stopped_for", [])
    alike = all(_is_like(known[name], State._field_defaults[name]) for name in known)
    if not fields or not alike or not isinstance(reasons, list):
        return None
    return State(**known, stopped_for=tuple(str(reason) for reason in reasons))


def keep_state(folder: str, state: State) -> None:
    """Remember it."""
    put(folder, _STATE, write(state._asdict()))


def loop_in(folder: str) -> Loop | None:
    """Read the loop that goes on here, if one does."""
    try:
        return from_file(read(text_in(folder, _LOOP) or ""))
    except (OSError, ValueError):
        return None


def keep_loop(folder: str, loop: Loop | None) -> None:
    """Remember a loop, or that there is none."""
    if loop is None:
        remove(folder, _LOOP)
    else:
        put(folder, _LOOP, write(loop._asdict()))


def _is_like(value: object, other: object) -> bool:
    """Tell whether a value is of a kind with another; whole numbers are times as well."""
    return type(value) is type(other) or (type(value) is int and type(other) is float)
