"""Show the rows, for users and for scripts. No I/O: it returns lines and data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, assert_never

from asbuilt.cli.commands.doctor.row import State
from asbuilt.cli.ui.screen import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from asbuilt.cli.commands.doctor.row import Row
    from asbuilt.cli.ui.screen import Pen

SCHEMA: Final = "asbuilt.doctor/1"
_NAME: Final = 10
_ROOMY: Final = 60
"""From this width, details are indented to the column of the words; below it, by 2."""


def lines(pen: Pen, rows: Sequence[Row], conclusion: str) -> list[str]:
    """Draw the page."""
    return [line for row in rows for line in _row(pen, row)] + pen.hanging("", conclusion)


def as_json(rows: Sequence[Row], conclusion: str) -> dict[str, Any]:
    """Return the page as JSON data."""
    return {
        "schema": SCHEMA,
        "ready": not any(row.state is State.PROBLEM for row in rows),
        "conclusion": conclusion,
        "rows": [
            {
                "name": row.name,
                "state": row.state.value,
                "said": "   ".join(part for part in (row.lead, row.said) if part),
                "why": row.why,
                "next": row.next_step.replace("`", ""),
                "or": row.otherwise.replace("`", ""),
                "facts": asdict(row.facts),  # type: ignore[call-overload]  # every row's facts are a dataclass
            }
            for row in rows
        ],
    }


def _row(pen: Pen, row: Row) -> Iterator[str]:
    plain = f"{_symbol(pen, row.state)} {row.name:<{_NAME}}"
    lead = f"{plain}{printable(row.lead)}   " if row.lead else plain
    first, *rest = pen.hanging(lead, row.said, commands=False, under=len(plain))
    yield _styled(pen, row) + first.removeprefix(plain)
    yield from rest
    indent = " " * (len(plain) if pen.width >= _ROOMY else 2)
    for label, text in (("Why:  ", row.why), ("Next: ", row.next_step), ("Or:   ", row.otherwise)):
        if text:
            yield from pen.hanging(indent + label, text)


def _styled(pen: Pen, row: Row) -> str:
    symbol = _symbol(pen, row.state)
    gap = " " * (_NAME - len(row.name))
    match row.state:
        case State.GOOD:
            symbol = pen.green(symbol)
        case State.NOTE:
            symbol = pen.yellow(symbol)
        case State.PROBLEM:
            symbol = pen.red(symbol)
        case State.IDLE:
            pass
        case _:
            assert_never(row.state)
    return f"{symbol} {pen.bold(row.name)}{gap}"


def _symbol(pen: Pen, state: State) -> str:
    match state:
        case State.GOOD:
            return pen.symbols.proven
        case State.IDLE:
            return pen.symbols.not_started
        case State.NOTE:
            return pen.symbols.note
        case State.PROBLEM:
            return pen.symbols.failed
        case _:
            assert_never(state)
