"""Hints, headlines and prose that commands print. Rule: a command to type is never broken across rows."""

from __future__ import annotations

import re
from typing import Final

from asbuilt.cli.shell.options import Door
from asbuilt.cli.ui.advice import advice_rows
from asbuilt.cli.ui.columns import cut_middle
from asbuilt.cli.ui.screen import Pen, printable

IN_SCRATCH: Final = "_ASBUILT_IN_SCRATCH"
"""Set for commands in a temporary repository, in which a user types nothing."""
_PLACEHOLDER: Final = re.compile(r"<([a-z]+)>")
_EXAMPLES: Final = {"checks.setup": "npm ci", "checks.tests": "npm test"}


def next_command(door: Door, *commands: str, comment: str = "", other: str = "") -> None:
    """Print the next commands to type, on stderr; `other` is an alternative, its command in backticks."""
    next_step(door, as_advice(*commands, comment=comment), other=other)


def as_advice(*commands: str, comment: str = "") -> str:
    """Return commands in backticks, as a shell line; prose is a comment of the shell behind them.

    A command with a `<placeholder>` asks for the user's own value: `config set` refuses the placeholder.
    """
    found = _PLACEHOLDER.search(commands[0])
    if found is not None:
        example = next(
            (f", for example {value}" for key, value in _EXAMPLES.items() if key in commands[0]), ""
        )
        comment = f"with your own {found[1]}{example}"
    shown = " &&` `".join(commands)
    return f"`{shown}` `# {comment}`" if comment else f"`{shown}`"


def next_step(door: Door, text: str, *, other: str = "") -> None:
    """Print what to do next, and the alternative below it; nothing in a repository that is deleted."""
    if IN_SCRATCH in door.environ:
        return
    if text:
        door.screen.talk_all(advice_rows(door.screen.err, "Next: ", text, other=other))


def answer(door: Door, lead: str, text: str, *, under: int | None = None) -> None:
    """Print prose of the answer under its lead. Backticks are literal: others may have written the text."""
    door.screen.answer_all(door.screen.out.hanging(lead, text, commands=False, under=under))


def talk(door: Door, lead: str, text: str) -> None:
    """Print prose of a hint under its lead, on stderr. Backticks are literal."""
    door.screen.talk_all(door.screen.err.hanging(lead, text, commands=False))


def advise(door: Door, why: str, command: str) -> None:
    """Print a recommendation and its command as part of the answer."""
    pen = door.screen.out
    door.screen.answer_all(pen.hanging(f"{pen.symbols.note} ", f"{why}: `{command}`"))


def headline(door: Door, subject: str, text: str) -> None:
    """Print a bold subject and a text that wraps below it."""
    pen = door.screen.out
    name = cut_middle(printable(subject), pen.width - 3, pen.symbols)
    first, *rest = pen.hanging(f"{name}   ", text, commands=False, under=2)
    door.screen.answer_all((pen.bold(name) + first.removeprefix(name), *rest))


def coloured(pen: Pen, symbol: str, *, needs_you: bool = False) -> str:
    """Colour a symbol by its meaning: proven is green, failed is red, needs the user is yellow."""
    if symbol == pen.symbols.proven:
        return pen.green(symbol)
    if symbol == pen.symbols.failed:
        return pen.red(symbol)
    return pen.yellow(symbol) if needs_you else symbol
