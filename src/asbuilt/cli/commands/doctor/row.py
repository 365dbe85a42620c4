"""A subject of `asbuilt doctor`, as shown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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

    name: str
    state: State
    said: str
    lead: str = ""
    """Text before the words, three spaces apart: a version, a command."""
    why: str = ""
    next_step: str = ""
    otherwise: str = ""
    facts: object = None
    stops: Stops = Stops.RUNS
    """What a problem of this subject stops."""
