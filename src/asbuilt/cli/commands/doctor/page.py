"""A row of `asbuilt doctor`, and the page of all rows, for users and for scripts. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial
from typing import Any, Final, TypeVar, assert_never

from msgspec import Struct, structs, to_builtins

from asbuilt.cli.ui.screen import Pen, printable

Observed = TypeVar("Observed")


class State(Enum):
    """The state of a subject."""

    GOOD = "good"
    IDLE = "idle"
    NOTE = "note"
    PROBLEM = "problem"


class Stops(Enum):
    """What `asbuilt run` does about a problem: refuses, asks the user first, or starts."""

    RUNS = "runs"
    UNATTENDED = "unattended runs"
    NOTHING = "nothing"


class Row(Struct, frozen=True):
    """A subject: its state, and what fixes it."""

    state: State
    text: str
    name: str = ""
    lead: str = ""
    """Text before the words, three spaces apart: a version, a command."""
    why: str = ""
    next_step: str = ""
    otherwise: str = ""
    facts: object = None
    stops: Stops = Stops.RUNS
    """What a problem of this subject stops."""


def judged(name: str, facts: Observed, judge: Callable[[Observed], Row]) -> Row:
    """Judge the facts of a subject, and return the row with its name and facts."""
    return structs.replace(judge(facts), name=name, facts=facts)


good: Final = partial(Row, State.GOOD)
"""The row of a subject that is set up."""
note: Final = partial(Row, State.NOTE)
"""The row of a subject that stops nothing."""
problem: Final = partial(Row, State.PROBLEM)
"""The row of a subject that needs user action."""


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
                "said": "   ".join(part for part in (row.lead, row.text) if part),
                "why": row.why,
                "next": row.next_step.replace("`", ""),
                "or": row.otherwise.replace("`", ""),
                "facts": to_builtins(row.facts),
            }
            for row in rows
        ],
    }


def _row(pen: Pen, row: Row) -> Iterator[str]:
    symbol, coloured = _symbol(pen, row.state)
    plain = f"{symbol} {row.name:<{_NAME}}"
    lead = f"{plain}{printable(row.lead)}   " if row.lead else plain
    first, *rest = pen.hanging(lead, row.text, commands=False, under=len(plain))
    yield f"{coloured} {pen.bold(row.name)}{' ' * (_NAME - len(row.name))}{first.removeprefix(plain)}"
    yield from rest
    indent = " " * (len(plain) if pen.width >= _ROOMY else 2)
    for label, text in (("Why:  ", row.why), ("Fix:  ", row.next_step), ("Or:   ", row.otherwise)):
        if text:
            yield from pen.hanging(indent + label, text)


def _symbol(pen: Pen, state: State) -> tuple[str, str]:
    colour: Callable[[str], str]
    match state:
        case State.GOOD:
            symbol, colour = pen.symbols.proven, pen.green
        case State.IDLE:
            symbol, colour = pen.symbols.not_started, str
        case State.NOTE:
            symbol, colour = pen.symbols.note, pen.yellow
        case State.PROBLEM:
            symbol, colour = pen.symbols.failed, pen.red
        case _:
            assert_never(state)
    return symbol, colour(symbol)
