"""Causes of an agent's early stop, and what the run does. Pure.

Rule: only the cause decides; the message is for display.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeGuard, assert_never

if TYPE_CHECKING:
    from asbuilt.events.event import Cause
    from asbuilt.events.questions import AskedCause

Course = Literal["wait", "back off", "ask, resume", "ask, restart", "restart", "stop"]
"""`resume`: start the same attempt again, with its session. `restart`: start the next attempt."""


def course_of(cause: Cause) -> Course:
    """Return what a run does about a cause."""
    match cause:
        case "usage_limit":
            # Until the limit resets: at the time that the agent reported, or after 15 minutes.
            return "wait"
        case "overload":
            return "back off"
        case "auth":
            # Only the user can sign in.
            return "ask, resume"
        case "refusal":
            # A retry would end the same: the user changes the wording (`asbuilt run -m`).
            return "ask, restart"
        case "budget" | "max_turns" | "crash":
            # The next attempt keeps the files. The run's own cap is checked in `stoppages.capped`.
            return "restart"
        case "unheld":
            # The sandbox did not confine the agent: the run fails, and the user has to check.
            return "stop"
        case _:
            assert_never(cause)


def asks(cause: Cause | None) -> TypeGuard[AskedCause]:
    """Return whether only the user can decide how to continue."""
    return cause is not None and course_of(cause) in ("ask, resume", "ask, restart")


def ending_of(cause: Cause) -> Literal["limited", "failed", "crashed"]:
    """Return the ending of an attempt that stopped for this cause."""
    match course_of(cause):
        case "wait" | "back off" | "ask, resume":
            return "limited"
        case "ask, restart" | "restart" | "stop":
            return "crashed" if cause == "crash" else "failed"
        case course:
            assert_never(course)
