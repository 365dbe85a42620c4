"""What a command says beside its answer. Its one rule: a command to type is never broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.cli.ui.columns import cut_path
from asbuilt.cli.ui.screen import printable

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.cli.ui.screen import Pen


def next_command(door: Door, command: str, more: str = "") -> None:
    """Say what to type next, on stderr."""
    for row in door.screen.err.hanging("Next: ", f"`{command}`{more}"):
        door.screen.talk(row)


def answer(door: Door, lead: str, text: str, *, under: int | None = None) -> None:
    """Say prose of the answer under its lead; what others wrote in it holds no command."""
    for row in door.screen.out.hanging(lead, text, commands=False, under=under):
        door.screen.answer(row)


def advise(door: Door, why: str, command: str) -> None:
    """Say in the answer what had better be done, and by which command."""
    pen = door.screen.out
    for row in pen.hanging(f"{pen.symbols.note} ", f"{why}: `{command}`"):
        door.screen.answer(row)


def headline(door: Door, subject: str, text: str) -> None:
    """Say something of a subject; what does not fit goes on below it."""
    pen = door.screen.out
    name = cut_path(printable(subject), pen.width - 3, pen.symbols)
    first, *rest = pen.hanging(f"{name}   ", text, commands=False, under=2)
    for row in (pen.bold(name) + first.removeprefix(name), *rest):
        door.screen.answer(row)


def coloured(pen: Pen, symbol: str, *, needs_you: bool = False) -> str:
    """Give a symbol the colour of its meaning: proven by us, failed or refused, needs you."""
    if symbol == pen.symbols.proven:
        return pen.green(symbol)
    if symbol == pen.symbols.failed:
        return pen.red(symbol)
    return pen.yellow(symbol) if needs_you else symbol
