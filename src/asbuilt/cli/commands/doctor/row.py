"""One subject of `asbuilt doctor`, as it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """How one subject stands."""

    GOOD = "good"
    IDLE = "idle"
    NOTE = "note"
    PROBLEM = "problem"


class Stops(Enum):
    """What `asbuilt run` does about a problem: refuses, asks a person first, or starts."""

    RUNS = "runs"
    UNATTENDED = "unattended runs"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One subject: how it stands, and what helps."""

    name: str
    state: State
    said: str
    lead: str = ""
    """What stands before the words, three spaces apart: a version, a command."""
    why: str = ""
    next_step: str = ""
    otherwise: str = ""
    facts: object = None
    stops: Stops = Stops.RUNS
    """What a problem here stops."""
