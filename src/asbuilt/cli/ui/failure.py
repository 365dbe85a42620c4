"""Draw a failure on a terminal: command, folder, result, output, and likely cause.

Rule: every row passes through `printable` and fits the width. No line of a failure is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from asbuilt.cli.ui.columns import pieces
from asbuilt.cli.ui.screen import printable

if TYPE_CHECKING:
    from asbuilt.cli.shell.options import Door
    from asbuilt.proof.failure import Failure

_LABEL: Final = 10
_BAR: Final = "  | "


def failure_rows(failure: Failure, width: int, *, is_repeated: bool = False) -> Iterator[str]:
    """Draw a failure in rows of at most `width` columns; of a repeated one only its result and cause."""
    labelled = (
        ("failed", failure.title),
        ("command", failure.command),
        ("where", failure.folder),
        ("result", failure.how),
        ("printed", "the same as before" if is_repeated else "" if failure.lines else "nothing"),
    )
    for label, text in labelled[3:] if is_repeated else labelled:
        yield from _labelled(label, text, width)
    for line in () if is_repeated else failure.lines:
        yield from (f"{_BAR}{piece}" for piece in pieces(printable(line), width - len(_BAR)))
    yield from _labelled("cause", failure.cause, width)


def _labelled(label: str, text: str, width: int) -> Iterator[str]:
    lead = f"  {label:<{_LABEL}}"
    for piece in pieces(printable(" ".join(text.split())), width - len(lead)) if text else ():
        yield f"{lead}{piece}"
        lead = " " * len(lead)


def show_failures(door: Door, failures: Sequence[Failure], *, more: str = "") -> None:
    """Print every failure, or with `more` (a command that lists the rest) only the first."""
    shown = failures[:1] if more else failures
    for failure in shown:
        door.screen.answer_all(failure_rows(failure, door.screen.out.width))
    if left := len(failures) - len(shown):
        door.screen.answer(f"  {left} more failed: {more}")
