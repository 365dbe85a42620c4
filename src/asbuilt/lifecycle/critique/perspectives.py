"""Perspectives of the rounds of a critique."""

from __future__ import annotations

from typing import Final

PERSPECTIVES: Final = (
    "technical: would this work, in this code, in this order?",
    "user and maintainer: is it what was wanted, and who lives with it afterwards?",
    "devil's advocate: what would make all of this the wrong thing to build?",
)
"""Perspective of each round; later rounds use the last one."""


def perspective(number: int) -> str:
    """Return the perspective of a round, counted from 1."""
    return PERSPECTIVES[min(number, len(PERSPECTIVES)) - 1]
