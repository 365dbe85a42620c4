"""Derive how a turn of Claude Code ended, and why. Pure.

Rule: a turn is done only if its exit code and its result both report success. The cause of any other ending
comes from error names and status codes; the only text that is parsed is the usage limit of old versions.

Usage comes from its own figures: totals of the conversation, reported when a turn ends. A killed process
reports nothing, and the next process does not count its usage; then the transcript has every answer of the
model with its tokens. Rule: nothing is counted twice, and what cannot be priced is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from asbuilt.agents.claude.messages import Ended, Tokens, tokens_in
from asbuilt.agents.claude.state import lines_in
from asbuilt.agents.contract import Turn, Used, stopped
from asbuilt.agents.streams import exit_of, last_line
from asbuilt.ports import JUDGES, Brief
from asbuilt.proof.opinion import opinion_from

if TYPE_CHECKING:
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
_HELPERS: Final = 500
_WEIGHTS: Final = Tokens(fresh=100, written=125, cached=10, output=500)
"""Rough relative prices of the kinds of tokens, used only for killed processes."""


class TurnState(Struct):
    """Messages of the agent so far."""

    says: str = ""
    error: str = ""
    resets_at: int | None = None
    ended: Ended | None = None


def turn_of(code: int | None, state: TurnState, brief: Brief, *, last_words: str) -> Turn:
    """Return how the turn ended; `code` is None if the process did not exit after its turn."""
    ended = state.ended
    if ended is None:
        return stopped("crash", f"claude {_how(code)}{last_line(last_words)}.", says=state.says)
    if code == 0 and ended.subtype == "success" and not ended.is_error:
        answer = ended.structured if brief.role in JUDGES else None
        verdict = opinion_from({"intent": brief.intent, **answer}) if isinstance(answer, dict) else None
        reason, says = "The agent says that it is done.", ended.text or state.says
        return Turn(ending="done", reason=reason, says=says, verdict=verdict)
    says_why = ended.text.strip()[:500] if ended.is_error else ""
    reason = says_why or f"claude {_how(code)}{last_line(last_words)}."
    cause = _cause(ended, state)
    if cause is None:
        return Turn(ending="failed", reason=reason, says=state.says)
    resets_at = _resets_at(state.resets_at, ended.text) if cause == "usage_limit" else None
    return stopped(cause, reason, says=state.says, resets_at=resets_at)


def _cause(ended: Ended, state: TurnState) -> Cause | None:
    """Return why the agent stopped. First match wins, the most specific first."""
    if ended.stop == "refusal":
        return "refusal"
    if _OLD_LIMIT.search(ended.text):
        return "usage_limit"
    named = next(
        (_CAUSES[name] for name in (ended.error, ended.subtype, state.error) if name in _CAUSES), None
    )
    if named is not None or ended.status is None:
        return named or ("crash" if ended.subtype == "error_during_execution" else None)
    return "overload" if ended.status == _BUSY or ended.status >= _BROKEN else None


def _resets_at(seconds: int | None, text: str) -> str | None:
    old_limit = _OLD_LIMIT.search(text)
    moment = seconds if seconds is not None else int(old_limit[1]) if old_limit else None
    try:
        return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return None


def _how(code: int | None) -> str:
    return "did not go when its turn was over" if code is None else exit_of(code)


class Tally(Struct):
    """Usage in a transcript, and how much of it the last cost figure covers."""

    reported_usd: float = 0.0
    """The last cost figure; a new process continues from it."""
    owed: dict[str, tuple[str, Tokens]] = field(default_factory=dict)
    """Answers after that figure by ID: the model and its tokens."""
    reported_at: str = ""
    """The latest timestamp before the figure."""

    @property
    def owed_tokens(self) -> Tokens:
        """Total tokens that no figure covers."""
        return sum((tokens for _, tokens in self.owed.values()), Tokens())


def tally_in(transcript: Path | None) -> Tally:
    """Read a transcript and those of its subagents (at most 500); skips malformed lines."""
    tally = Tally()
    if transcript is None:
        return tally
    _take(tally, lines_in(transcript))
    helpers = (transcript.with_suffix("") / "subagents").glob("*.jsonl")
    for helper in sorted(islice(helpers, _HELPERS)):
        later = (line for line in lines_in(helper) if str(line.get("timestamp", "")) > tally.reported_at)
        _take(tally, later if tally.reported_at else lines_in(helper))
    return tally


def _take(tally: Tally, lines: Iterable[dict[str, Any]]) -> None:
    at = ""
    for line in lines:
        at = max(at, str(line.get("timestamp", "")))
        match line:
            case {"type": "cost-state", "totalCostUSD": int() | float() as usd}:
                tally.reported_usd, tally.reported_at = float(usd), at
                tally.owed.clear()
            case {
                "type": "assistant",
                "message": {"id": str(key), "model": str(model), "usage": dict(usage)},
            }:
                _, before = tally.owed.get(key, ("", Tokens()))
                # An answer spans several lines; only the last one has all of its tokens.
                tally.owed[key] = (model, max(before, tokens_in(usage), key=lambda tokens: tokens.output))
            case _:
                pass


def used_by(ended: Ended, before: Tally) -> Used:
    """Return the usage of a turn that reported figures, plus that of the processes killed before it."""
    return _used(ended.used + before.owed_tokens, _cost(ended, before))


def used_without_end(tally: Tally) -> Used | None:
    """Return the usage of a conversation without a final figure; None when nothing was used."""
    return _used(tally.owed_tokens, None) if tally.owed else None


def _cost(ended: Ended, before: Tally) -> float | None:
    if ended.cost_usd is None:
        return None
    spent = max(ended.cost_usd - before.reported_usd, 0.0)
    prices = {name: cost / weight for name, tokens, cost in ended.models if (weight := _weight(tokens))}
    for model, tokens in before.owed.values():
        if not any(tokens):
            continue
        if model not in prices:
            return None
        spent += prices[model] * _weight(tokens)
    return spent


def _weight(tokens: Tokens) -> int:
    return sum(count * weight for count, weight in zip(tokens, _WEIGHTS, strict=True))


def _used(sums: Tokens, cost: float | None) -> Used:
    return Used(
        input_tokens=sums.fresh + sums.written + sums.cached, output_tokens=sums.output, cost_usd=cost
    )
