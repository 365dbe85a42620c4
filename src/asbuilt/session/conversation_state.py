"""State of one conversation between two events.

An unreadable state counts as no state: it only informs and never blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.policy.light_json import read, write
from asbuilt.session.conversation import put, remove, text_in
from asbuilt.session.prompt_rounds import Loop, from_file

if TYPE_CHECKING:
    from asbuilt.session.plan_facts import PlanFacts

USABLE_S: Final = 3_600
"""Age up to which a state describes current work."""
KEPT_S: Final = 24 * 3_600
_STATE: Final = "state"
_LOOP: Final = "loop"


class State(NamedTuple):
    """One conversation after its last event."""

    session: str = ""
    transcript: str = ""
    size: int = 0
    """Size of the transcript in bytes."""
    at: float = 0.0
    cwd: str = ""
    mode: str = ""
    """The last permission mode other than plan; empty if unknown."""
    plan: str = ""
    """The plan in work; empty if none."""
    phase: str = ""
    """The plan's current phase when it was last read."""
    plan_at: float = 0.0
    """Time of the plan's last change when it was last read."""
    approved: bool = False
    """Whether the user approved or named that plan."""
    window: int = 0
    """Size of the context window from the status line; 0 if unknown."""
    warned: bool = False
    """The warning about this context was sent."""
    stopped_for: tuple[str, ...] = ()
    """Every reason that has blocked a turn in this context."""
    reminded: int = 0
    """Number of plan-mode reminders since plan mode was turned on."""
    turns: int = 0
    """Number of typed prompts since the last reminder."""
    planned: str = ""
    """The plan that was written when plan mode was last on."""

    def with_plan(self, plan: PlanFacts, *, approved: bool) -> State:
        """Make a plan the conversation's own."""
        return self._replace(
            plan=plan.path, phase=plan.phase, plan_at=plan.changed_at, planned=plan.path, approved=approved
        )

    def with_fresh_context(self) -> State:
        """Reset what applies to the previous context."""
        return self._replace(warned=False, stopped_for=(), reminded=0, turns=0)


def state_in(folder: str) -> State | None:
    """Read the stored state; None if there is none."""
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
    """Store a state."""
    put(folder, _STATE, write(state._asdict()))


def loop_in(folder: str) -> Loop | None:
    """Read the active loop; None if there is none."""
    try:
        return from_file(read(text_in(folder, _LOOP) or ""))
    except (OSError, ValueError):
        return None


def keep_loop(folder: str, loop: Loop | None) -> None:
    """Store a loop, or remove it."""
    if loop is None:
        remove(folder, _LOOP)
    else:
        put(folder, _LOOP, write(loop._asdict()))


def _is_like(value: object, other: object) -> bool:
    """Return whether two values have the same type; an int may stand in for a float."""
    return type(value) is type(other) or (type(value) is int and type(other) is float)
