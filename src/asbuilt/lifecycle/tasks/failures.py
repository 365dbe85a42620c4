"""A failure of a task as one record. Pure."""

from __future__ import annotations

from typing import Any

SEVERITIES = {"artifact_missing": "high", "result_missing": "high", "result_invalid": "high"}
"""Other kinds are medium: work is left to do, and nothing is lost."""


def failure(  # noqa: PLR0913 - a record has these parts
    kind: str,
    message: str,
    *,
    task: int,
    session: str,
    checkpoint: str,
    command: str,
    at: str,
) -> dict[str, Any]:
    """Return the record of a failure: what went wrong, where, and how to continue."""
    return {
        "id": f"err_{''.join(filter(str.isdecimal, at))}",
        "timestamp": at,
        "type": kind,
        "severity": SEVERITIES.get(kind, "medium"),
        "message": message,
        "context": {"session_id": session, "command": command, "task": task, "checkpoint": checkpoint},
        "recovery": {"suggested_action": f"`{command}`", "auto_recoverable": False},
        "fix_status": "unfixed",
    }
