"""How strong is a model? Told from its name, in three rungs that vendors' families have in common. Pure.

The one rule: a model whose name says nothing is on no rung; with a floor set, nobody is given work by it.
"""

from __future__ import annotations

from typing import Final

_RUNGS: Final = (
    ("haiku", 1), ("sonnet", 2), ("opus", 3),
    ("nano", 1), ("mini", 2), ("flash-lite", 1), ("flash", 2),
    ("pro", 3), ("codex", 3), ("gpt-5", 3), ("o3", 3),
)  # fmt: skip
"""First match wins: `gpt-5-mini` is a mini, `gemini` is none."""


def rung_of(model: str) -> int | None:
    """Say on which rung a model stands, from 1; None when its name does not tell."""
    name = f"-{model.lower().replace('gemini', '').replace('.', '-').replace('/', '-')}-"
    return next((rung for word, rung in _RUNGS if f"-{word}-" in name), None)


def is_below(model: str, floor: str) -> bool:
    """Tell whether a model may not be given work; with no floor every model may."""
    least = rung_of(floor) if floor else None
    rung = rung_of(model)
    return bool(floor) and (rung is None or least is None or rung < least)
