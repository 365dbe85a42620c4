"""Say how an agent ended that was driven over ACP, from its stop reason or its error. Pure.

The one rule: only a turn that it ended itself, with nothing refused at its end, is done.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from asbuilt.agents.acp_resets import resets_at
from asbuilt.agents.adapter import Turn, stopped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from asbuilt.events.event import Cause

_AUTH_REQUIRED: Final = -32000
_WORDS: Final[tuple[tuple[str, Cause], ...]] = (
    ("usage_limit", "usage_limit"),
    ("usage limit", "usage_limit"),
    ("rate_limit", "usage_limit"),
    ("quota", "usage_limit"),
    ("overloaded", "overload"),
    ("server_error", "overload"),
    ("authentication_failed", "auth"),
    ("unauthorized", "auth"),
    ("api key not valid", "auth"),
    ("billing", "auth"),
    ("maximum budget", "budget"),
    ("maximum number of turns", "max_turns"),
    ("refusal", "refusal"),
)
"""What is looked for in an error that names no status; the first that is there decides."""
_STATUS: Final = re.compile(
    r"(?:status(?:[ _]code)?\"?[:=]?|error:?|rejected|code\"?:) *\(?([45]\d\d)\b", re.IGNORECASE
)
_TEXT_CAP: Final = 1_000


def ended(response: Mapping[str, Any], *, says: str) -> Turn:
    """Say how a turn ended that was answered."""
    match response.get("stopReason"):
        case "end_turn":
            return Turn(ending="done", reason="The agent says that it is done.", says=says)
        case "max_turn_requests":
            return stopped("max_turns", "It used up its turns before it was done.", says=says)
        case "refusal":
            return stopped("refusal", "The model refused to go on.", says=says)
        case "max_tokens":
            return Turn(ending="failed", reason="It reached the length of an answer.", says=says)
        case "cancelled":
            return Turn(ending="failed", reason="Its turn was broken off.", says=says)
        case other:
            return Turn(
                ending="failed", reason=f"It stopped for a reason that is not known: {other}", says=says
            )


def refused(code: int, message: str, data: object, *, says: str, now: datetime) -> Turn:
    """Say how a turn ended that was answered with an error."""
    told = json.dumps(data) if data else ""
    cause = _cause(code, f"{message} {told}")
    reason = f"Its model or its program failed: {_readable(message, data)}"[:_TEXT_CAP]
    if cause is None:
        return Turn(ending="failed", reason=reason, says=says)
    reopens_at = resets_at(f"{message} {told}", now) if cause == "usage_limit" else None
    return stopped(cause, reason, says=says, resets_at=reopens_at)


def _cause(code: int, text: str) -> Cause | None:
    if code == _AUTH_REQUIRED:
        return "auth"
    lower = text.lower()
    status = code if 400 <= code < 600 else int(found[1]) if (found := _STATUS.search(text)) else None
    match status:
        case 401 | 403:
            return "auth"
        case 429:
            return "usage_limit"
        case int() if status >= 500:
            return "overload"
        case int():
            return None
        case None:
            return next((cause for word, cause in _WORDS if word in lower), None)


def _readable(message: str, data: object) -> str:
    """Take the words out of an error; an internal one keeps them in its data."""
    match data:
        case {"message": str(text)} | {"details": str(text)}:
            return text
        case str() if data:
            return data
        case _:
            return message
