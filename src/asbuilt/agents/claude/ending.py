"""Derive how a turn of Claude Code ended, and why. Pure.

Rule: a turn is done only if its exit code and its result both report success. The cause of any other ending
comes from error names and status codes; the only text that is parsed is the usage limit of old versions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from asbuilt.agents.contract import Turn, stopped
from asbuilt.agents.streams import exit_of, last_line
from asbuilt.ports import JUDGES, Brief
from asbuilt.proof.opinion import Opinion, opinion_from

if TYPE_CHECKING:
    from asbuilt.agents.claude.messages import Ended
    from asbuilt.events.event import Cause

_BUSY: Final = 429
_BROKEN: Final = 500
_CAUSES: Final[dict[str, Cause]] = {
    "authentication_failed": "auth",
    "oauth_org_not_allowed": "auth",
    # Only the user's billing can fix it; the same attempt then continues.
    "billing_error": "auth",
    "connection_failed": "overload",
    "overloaded": "overload",
    "rate_limit": "overload",
    "server_error": "overload",
    "usage_limit_reached": "usage_limit",
    "error_max_budget_usd": "budget",
    "error_max_turns": "max_turns",
}
_OLD_LIMIT: Final = re.compile(r"limit reached\|(\d{10})\b")


@dataclass(slots=True)
class Heard:
    """Messages of the agent so far."""

    says: str = ""
    error: str = ""
    resets_at: int | None = None
    ended: Ended | None = None


def turn_of(code: int | None, heard: Heard, brief: Brief, *, last_words: str) -> Turn:
    """Return how the turn ended; `code` is None if the process did not exit after its turn."""
    ended = heard.ended
    if ended is None:
        return stopped("crash", f"claude {_how(code)}{last_line(last_words)}.", says=heard.says)
    if code == 0 and ended.subtype == "success" and not ended.is_error:
        return Turn(
            ending="done",
            reason="The agent says that it is done.",
            says=ended.text or heard.says,
            verdict=_verdict(ended.structured, brief),
        )
    says_why = ended.text.strip()[:500] if ended.is_error else ""
    reason = says_why or f"claude {_how(code)}{last_line(last_words)}."
    cause = _cause(ended, heard)
    if cause is None:
        return Turn(ending="failed", reason=reason, says=heard.says)
    resets_at = _resets_at(heard.resets_at, ended.text) if cause == "usage_limit" else None
    return stopped(cause, reason, says=heard.says, resets_at=resets_at)


def _cause(ended: Ended, heard: Heard) -> Cause | None:
    """Return why the agent stopped. First match wins, the most specific first."""
    if ended.stop == "refusal":
        return "refusal"
    if _OLD_LIMIT.search(ended.text):
        return "usage_limit"
    named = next(
        (_CAUSES[name] for name in (ended.error, ended.subtype, heard.error) if name in _CAUSES), None
    )
    if named is not None or ended.status is None:
        return named or ("crash" if ended.subtype == "error_during_execution" else None)
    return "overload" if ended.status == _BUSY or ended.status >= _BROKEN else None


def _verdict(structured: object, brief: Brief) -> Opinion | None:
    """Return the opinion of a verifier; None for other roles."""
    if brief.role not in JUDGES or not isinstance(structured, dict):
        return None
    return opinion_from({"intent": brief.intent, **structured})


def _resets_at(seconds: int | None, text: str) -> str | None:
    told = _OLD_LIMIT.search(text)
    moment = seconds if seconds is not None else int(told[1]) if told else None
    try:
        return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return None


def _how(code: int | None) -> str:
    return "did not go when its turn was over" if code is None else exit_of(code)
