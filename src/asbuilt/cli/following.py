"""Put what happens to a run into lines, one for each event. It changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.cli.clock import parsed
from asbuilt.cli.screen import WIDTH
from asbuilt.cli.telling import told

if TYPE_CHECKING:
    from asbuilt.cli.screen import Screen
    from asbuilt.events.event import Entry


def line_of(screen: Screen, name: str, entry: Entry, *, wide: int = 3) -> str | None:
    """Say an event in one line; None for bookkeeping, unless more was asked for. `wide`: the longest id."""
    line = told(entry)
    if not line.is_news and not screen.verbose:
        return None
    return f"{clock_time(entry.at)} {name} {line.phase:<{wide}} {line.word:<9} {line.text}"


def shortened(text: str, screen: Screen) -> str:
    """Keep a line within the screen; its end tells least."""
    ellipsis = screen.err.symbols.ellipsis
    return text if len(text) <= WIDTH else text[: WIDTH - len(ellipsis)] + ellipsis


def clock_time(at: str) -> str:
    """Give the local time of an event to the second."""
    return parsed(at).astimezone().strftime("%H:%M:%S")
