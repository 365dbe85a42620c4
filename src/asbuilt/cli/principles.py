"""What plans are judged by, as the user has chosen: the twelve that ship, or those of a file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.errors import SettingInvalid
from asbuilt.library.reading import read_bytes
from asbuilt.lifecycle.flaws import Flaw
from asbuilt.lifecycle.principles import TEMPLATE, read_principles

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.settings import Settings

SETTING: Final = "author.principles"
_MOST: Final = 20_000
"""Bytes of such a file: every critic reads all of it."""


def principles_text(settings: Settings, root: Path) -> str:
    """Read what was chosen; a file that holds no principles is told before anybody is judged by it."""
    named = settings.text(SETTING)
    if not named:
        return TEMPLATE
    text = read_bytes(root / named, limit=_MOST, name=named).decode("utf-8", "replace")
    flaws = [one for one in read_principles(text) if isinstance(one, Flaw)]
    if flaws:
        first = flaws[0]
        raise SettingInvalid(
            f"{named} holds no principles: {first.what}: found {first.found}, needed {first.needed}",
            why=f"{SETTING} names it, and a critic would judge by something else than you meant.",
            next_step=f"For example: {first.example}",
        )
    return text
