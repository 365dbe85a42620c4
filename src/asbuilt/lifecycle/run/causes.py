"""Why an agent stopped before its work was done, and what a run does then. Pure.

The one rule: the cause decides; the words that came with it are for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeGuard, assert_never

if TYPE_CHECKING:
    from asbuilt.events.event import Cause
    from asbuilt.events.questions import AskedCause

Course = Literal["wait", "back off", "ask, go on", "ask, begin anew", "begin anew", "stop"]
"""To go on is another start of the same attempt, with its session; to begin anew is the next attempt."""


def course_of(cause: Cause) -> Course:
    """Say what a run does about it."""
    match cause:
        case "usage_limit":
            # Until it opens again; the time is the agent's word, or tried after a while.
            return "wait"
        case "overload":
            return "back off"
        case "auth":
            # Only a person can sign in.
            return "ask, go on"
        case "refusal":
            # The same again would end the same: a person finds other words (`asbuilt tell`).
            return "ask, begin anew"
        case "budget" | "max_turns" | "crash":
            # With the files as they are. What a run may spend in all is asked about where it is spent.
            return "begin anew"
        case "unheld":
            # What has to hold an agent did not: nobody is given work here until a person has looked.
            return "stop"
        case _:
            assert_never(cause)


def asks(cause: Cause | None) -> TypeGuard[AskedCause]:
    """Tell whether only a person can say how it goes on."""
    return cause is not None and course_of(cause) in ("ask, go on", "ask, begin anew")


def ending_of(cause: Cause) -> Literal["limited", "failed", "crashed"]:
    """Say how an attempt has ended that stopped so."""
    match course_of(cause):
        case "wait" | "back off" | "ask, go on":
            return "limited"
        case "ask, begin anew" | "begin anew" | "stop":
            return "crashed" if cause == "crash" else "failed"
        case course:
            assert_never(course)
