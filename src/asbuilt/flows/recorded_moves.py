"""Decisions as the engine records them, and whether a recorded one still comes next. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from asbuilt.events.convert import convert_union
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.run import moves

Plain = dict[str, Any]
"""What passes through the engine: only JSON."""


def recorded(move: moves.Move) -> Plain:
    """Return a move as the engine records it."""
    return {name: _storable(value) for name, value in msgspec.to_builtins(move).items()}


def _storable(value: Any) -> Any:  # noqa: ANN401 - a field of a move
    """Escape what the engine's database refuses as text: a name that is not UTF-8."""
    if isinstance(value, list):
        return [_storable(part) for part in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def read_move(stored: Plain) -> moves.Move:
    """Return a move that the engine recorded."""
    move: moves.Move = convert_union(stored, moves.Move)
    return move


def comes_next(decided: moves.Move, move: moves.Move) -> bool:
    """Return whether a recorded decision is still the next move."""
    if isinstance(move, moves.End) and isinstance(decided, moves.End):
        # An end that is recorded already has no reason here.
        return move.state == decided.state
    return recorded(move) == recorded(decided)


def still_waits(move: moves.Move, decided: moves.Wait) -> bool:
    """Return whether a run still has to wait, in the same way and as long as was decided."""
    if not isinstance(move, moves.Wait):
        return False
    if decided.account:
        return move == decided
    # A wait for an answer may have become one for a time, which would pass without anybody waking the run.
    is_shorter = move.until is not None and (decided.until is None or move.until < decided.until)
    return not is_shorter and (move.reason is WaitReason.PAUSE) == (decided.reason is WaitReason.PAUSE)
