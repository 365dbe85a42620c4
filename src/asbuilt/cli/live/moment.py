"""Snapshot of a run for its live view. Data only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from asbuilt.journal.queries.overview import RunView


class Activity(NamedTuple):
    """What an agent is doing, from the events of its attempt."""

    who: str
    doing: str
    """In the agent's or its tool's words: a claim."""
    heard_at: datetime | None
    """When the agent last gave a sign; None: not yet."""
    tool_calls: int


class Moment(NamedTuple):
    """The state of a run now."""

    view: RunView
    now: datetime
    activity: Activity | None
    """None if no agent works."""
    lanes: tuple[tuple[str, Activity], ...] = ()
    """Phases that agents work on side by side, with what each agent does."""
    failures: tuple[str, ...] = ()
    """The failures that the current fix has to repair."""
    is_served: bool = True
    """False: no worker is alive, so the run does not continue."""
    is_here: bool = False
    """True: this process is the worker, and Ctrl-C pauses the run."""
    may_note: bool = False
    """Whether the user can type a note for the agent."""
    note: str | None = None
    """The note that is being typed."""
