"""Ask a person for a yes. Its one rule: where nobody can answer, the answer is no."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door


def agreed(door: Door, question: str) -> bool:
    """Ask, and tell whether the answer was y or yes; anything else is a no."""
    if not door.may_ask:
        return False
    return typed(door, f"{question} [y/N]").lower() in ("y", "yes")


def typed(door: Door, question: str) -> str:
    """Ask, and return the line that was typed; whoever asks has seen that somebody is there."""
    door.screen.out.flush()
    door.screen.err.prompt(question)
    return sys.stdin.readline().strip()
