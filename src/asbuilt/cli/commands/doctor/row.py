"""A subject of `asbuilt doctor`, as shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeVar

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A subject: its state, and what fixes it."""

    state: State
    said: str
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
    return replace(judge(facts), name=name, facts=facts)


def good(said: str, **more: Any) -> Row:  # noqa: ANN401 - the fields of a row
    """Return the row of a subject that is set up."""
    return Row(state=State.GOOD, said=said, **more)


def note(said: str, **more: Any) -> Row:  # noqa: ANN401 - the fields of a row
    """Return the row of a subject that stops nothing."""
    return Row(state=State.NOTE, said=said, **more)


def problem(said: str, **more: Any) -> Row:  # noqa: ANN401 - the fields of a row
    """Return the row of a subject that needs user action."""
    return Row(state=State.PROBLEM, said=said, **more)
