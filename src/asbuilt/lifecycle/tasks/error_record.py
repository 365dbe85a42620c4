"""Errors of a task, as its ledger keeps them. Pure."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

_HIGH: Final = ("artifact_missing", "result_missing", "result_invalid")
"""Errors that lose something."""


class FailureContext(Struct, frozen=True, kw_only=True):
    """The session, the command and the step of an error."""

    session_id: str
    command: str
    task: int
    checkpoint: str


class Recovery(Struct, frozen=True, kw_only=True):
    """What the user can do about an error."""

    suggested_action: str
    auto_recoverable: bool = False


class Failure(Struct, frozen=True, kw_only=True):
    """An error of a task: what went wrong, where, and how to continue."""

    id: str
    timestamp: str
    type: str
    severity: str
    message: str
    context: FailureContext
    recovery: Recovery
    fix_status: str = "unfixed"


def failure(  # noqa: PLR0913 - a record has these parts
    kind: str, message: str, *, task: int, session: str, checkpoint: str, command: str, at: str
) -> Failure:
    """Build the record of an error."""
    return Failure(
        id=f"err_{''.join(filter(str.isdecimal, at))}",
        timestamp=at,
        type=kind,
        severity="high" if kind in _HIGH else "medium",
        message=message,
        context=FailureContext(session_id=session, command=command, task=task, checkpoint=checkpoint),
        recovery=Recovery(suggested_action=f"`{command}`"),
    )
