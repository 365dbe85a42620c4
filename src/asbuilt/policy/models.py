"""Size of a model, from its name, in three rungs that vendors' families share. Pure.

Rule: a model whose name gives no size has no rung. With `agents.min_model` set, it gets no work.
"""

from __future__ import annotations

from typing import Final

_RUNGS: Final = (
    ("haiku", 1), ("sonnet", 2), ("opus", 3),
    ("nano", 1), ("mini", 2), ("flash-lite", 1), ("flash", 2),
    ("pro", 3), ("codex", 3), ("gpt-5", 3), ("o3", 3),
)  # fmt: skip
"""The first match wins: `gpt-5-mini` is a mini. The `mini` in `gemini` does not count."""


def rung_of(model: str) -> int | None:
    """Return the rung of a model, 1 to 3; None if its name gives no size."""
    name = f"-{model.lower().replace('gemini', '').replace('.', '-').replace('/', '-')}-"
    return next((rung for word, rung in _RUNGS if f"-{word}-" in name), None)


def is_below(model: str, floor: str) -> bool:
    """Return whether a model may not get work; without a floor every model may."""
    least = rung_of(floor) if floor else None
    rung = rung_of(model)
    return bool(floor) and (rung is None or least is None or rung < least)
