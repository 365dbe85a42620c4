"""What is known of a run at one moment, as far as somebody who looks on sees it. Nothing here decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from asbuilt.journal.queries.overview import RunView


class Activity(NamedTuple):
    """What an agent is doing, from the events of its attempt."""

    who: str
    doing: str
    """In its own words or its tool's: a claim."""
    heard_at: datetime | None
    """When it last gave a sign; None: not yet."""
    tool_calls: int


class Moment(NamedTuple):
    """A run as it stands now."""

    view: RunView
    now: datetime
    activity: Activity | None
    """None while no agent works."""
    failures: tuple[str, ...] = ()
    """What the fix under way has to mend."""
    is_served: bool = True
    """False: no worker is alive, and nothing goes on."""
    is_here: bool = False
    """True: this process is the worker, so that Ctrl-C pauses the run."""
