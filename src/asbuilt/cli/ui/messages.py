"""Hints, headlines and prose that commands print. Rule: a command to type is never broken across rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.cli.ui.columns import cut_path
from asbuilt.cli.ui.screen import printable

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.cli.ui.screen import Pen


def next_command(door: Door, command: str, more: str = "") -> None:
    """Print the next command to type, on stderr."""
    for row in door.screen.err.hanging("Next: ", f"`{command}`{more}"):
        door.screen.talk(row)


def answer(door: Door, lead: str, text: str, *, under: int | None = None) -> None:
    """Print prose of the answer under its lead. Backticks are literal: others may have written the text."""
    for row in door.screen.out.hanging(lead, text, commands=False, under=under):
        door.screen.answer(row)


def advise(door: Door, why: str, command: str) -> None:
    """Print a recommendation and its command as part of the answer."""
    pen = door.screen.out
    for row in pen.hanging(f"{pen.symbols.note} ", f"{why}: `{command}`"):
        door.screen.answer(row)


def headline(door: Door, subject: str, text: str) -> None:
    """Print a bold subject and a text that wraps below it."""
    pen = door.screen.out
    name = cut_path(printable(subject), pen.width - 3, pen.symbols)
    first, *rest = pen.hanging(f"{name}   ", text, commands=False, under=2)
    for row in (pen.bold(name) + first.removeprefix(name), *rest):
        door.screen.answer(row)


def coloured(pen: Pen, symbol: str, *, needs_you: bool = False) -> str:
    """Colour a symbol by its meaning: proven is green, failed is red, needs the user is yellow."""
    if symbol == pen.symbols.proven:
        return pen.green(symbol)
    if symbol == pen.symbols.failed:
        return pen.red(symbol)
    return pen.yellow(symbol) if needs_you else symbol
