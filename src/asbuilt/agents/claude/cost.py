"""Usage of a Claude Code conversation, from its own figures and, after a crash, from its transcript.

Its figures are totals of the conversation, reported when a turn ends. A killed process reports nothing, and
the next process does not count its usage. The transcript has every answer of the model with its tokens.

Rule: nothing is counted twice, and what cannot be priced is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from asbuilt.agents.claude.messages import Ended, Tokens, tokens_in
from asbuilt.agents.claude.state import lines_in
from asbuilt.agents.contract import Used

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_HELPERS: Final = 500
_WEIGHTS: Final = Tokens(fresh=100, written=125, cached=10, output=500)
"""Rough relative prices of the kinds of tokens, used only for killed processes."""


@dataclass(slots=True)
class Tally:
    """Usage in a transcript, and how much of it the last cost figure covers."""

    told_usd: float = 0.0
    """The last cost figure; a new process continues from it."""
    owed: dict[str, tuple[str, Tokens]] = field(default_factory=dict)
    """Answers after that figure by ID: the model and its tokens."""
    told_at: str = ""
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
        later = (one for one in lines_in(helper) if str(one.get("timestamp", "")) > tally.told_at)
        _take(tally, later if tally.told_at else lines_in(helper))
    return tally


def _take(tally: Tally, lines: Iterable[dict[str, Any]]) -> None:
    at = ""
    for line in lines:
        at = max(at, str(line.get("timestamp", "")))
        match line:
            case {"type": "cost-state", "totalCostUSD": int() | float() as told}:
                tally.told_usd, tally.told_at = float(told), at
                tally.owed.clear()
            case {
                "type": "assistant",
                "message": {"id": str(key), "model": str(model), "usage": dict(usage)},
            }:
                _, before = tally.owed.get(key, ("", Tokens()))
                # An answer spans several lines; only the last one has all of its tokens.
                tally.owed[key] = (model, max(before, tokens_in(usage), key=lambda one: one.output))
            case _:
                pass


def used_by(ended: Ended, before: Tally) -> Used:
    """Return the usage of a turn that reported figures, plus that of the processes killed before it."""
    sums = ended.used + before.owed_tokens
    return _used(sums, _cost(ended, before))


def used_without_end(tally: Tally) -> Used | None:
    """Return the usage of a conversation without a final figure; None when nothing was used."""
    return _used(tally.owed_tokens, None) if tally.owed else None


def _cost(ended: Ended, before: Tally) -> float | None:
    if ended.cost_usd is None:
        return None
    spent = max(ended.cost_usd - before.told_usd, 0.0)
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
