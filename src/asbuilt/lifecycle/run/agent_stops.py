"""Causes of an agent's early stop, and what the run does. Rule: only the cause decides. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeGuard, assert_never

from asbuilt.lifecycle.run.retry_times import backs_off_until

if TYPE_CHECKING:
    from asbuilt.events.event import Cause
    from asbuilt.events.questions import AskedCause

Course = Literal["wait", "back off", "ask, resume", "ask, restart", "restart", "stop"]
"""`resume`: start the same attempt again, with its session. `restart`: start the next attempt."""
PROBE_S: Final = 60
"""Seconds after the start of a probe in which no other agent of the account starts."""


class Breaker(NamedTuple):
    """A cause that holds for an agent's account, so for every run and lane that uses it.

    While it is open, no agent of the account starts. Then one chain of segments at a time is the probe; an
    agent that finishes closes the breaker.
    """

    account: str
    cause: Cause
    until: str | None
    """When it is tried again; None: when the user has answered the holder's question."""
    holder: str
    """The chain of segments that met the cause last."""
    tries: int = 1
    probe: str = ""
    probe_until: str = ""
    told: str = ""
    """Key of the wait that notified the user."""

    def is_open(self, now: str) -> bool:
        """Return whether no agent of the account may start."""
        return self.until is None or self.until > now

    def blocks(self, chain: str, now: str) -> bool:
        """Return whether a chain may not start an agent now."""
        return self.is_open(now) or (self.probe not in ("", chain) and self.probe_until > now)

    def met_again(self, cause: Cause, until: str | None, holder: str, now: str) -> Breaker:
        """Return the breaker after another agent hits a cause; the later end time wins."""
        is_open = self.is_open(now)
        if is_open and (self.until is None or (until is not None and until <= self.until)):
            return self
        if cause == "overload" and until is not None:
            # Different chains try in turn, so the account counts, not the attempt.
            until = max(until, backs_off_until(self.tries, now))
        return Breaker(self.account, cause, until, holder, self.tries + (not is_open), told=self.told)


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


def is_of_account(cause: Cause | None) -> bool:
    """Return whether a cause holds for every agent of the same account."""
    return cause is not None and course_of(cause) in ("wait", "back off", "ask, resume")


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
