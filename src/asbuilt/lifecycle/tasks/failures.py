"""What went wrong with a task, as one record that can be looked through later. Pure."""

from __future__ import annotations

from typing import Any

SEVERITIES = {"artifact_missing": "high", "result_missing": "high", "result_invalid": "high"}
"""Anything else is medium: work is left to do, and nothing is lost."""


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
    """Tell what went wrong, where, and how a person goes on."""
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
