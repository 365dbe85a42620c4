"""What an ended run means for its plan: its state, its schedule, and whether `asbuilt run` continues it.

Pure. Rule: an undo starts only when the user asks for an undo, so `asbuilt run` never repeats one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asbuilt.events.options import RunKind

_UNFINISHED: Final = ("failed", "stopped")
_NEVER_REPEATED: Final = ("verify", "undo")
_OF_PLANS: Final = ("run", "land", "undo", "verify")


def is_continued(kind: RunKind, state: str) -> bool:
    """Return whether `asbuilt run` continues a run that ended in this state."""
    return state in _UNFINISHED and kind not in _NEVER_REPEATED


def reverted_nothing(kind: RunKind, state: str) -> bool:
    """Return whether a run is an undo that failed or was stopped: the plan's work is as it was before."""
    return kind == "undo" and state in _UNFINISHED


def changed_nothing(kind: RunKind, state: str) -> bool:
    """Return whether a run left its plan as it was: the state of the plan is that of the run before.

    It had nothing to do, verified finished work, or is an undo that reverted nothing.
    """
    return (state == "done" and kind in _OF_PLANS) or reverted_nothing(kind, state)


def waits_for_schedule(kind: RunKind, state: str) -> bool:
    """Return whether a plan that has a schedule waits for it, and not for the user, after this end.

    A run that fails or is stopped ends the schedule, so the user has set another one since.
    """
    return state in ("landed", "done", "undone", "stopped") or (kind == "run" and state == "failed")
