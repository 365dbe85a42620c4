"""Ask the user for confirmation. Without a terminal, or with --no-input, the answer is no."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door


def agreed(door: Door, question: str) -> bool:
    """Ask a question and return whether the answer was y or yes."""
    if not door.may_ask:
        return False
    return typed(door, f"{question} [y/N]").lower() in ("y", "yes")


def typed(door: Door, question: str) -> str:
    """Ask a question and return the line that was typed. The caller has checked `door.may_ask`."""
    door.screen.out.flush()
    door.screen.err.prompt(question)
    return sys.stdin.readline().strip()
