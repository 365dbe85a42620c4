"""The turn of a run in the line of its branch.

Rule: the event that ends a landing gives the turn to the next run in the same transaction. The second in line
waits in its process for up to 10 s, so that a branch does not rest between two landings.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from asbuilt.events.landings import LandingDone, LandingQueued, LandingRefused
from asbuilt.flows.run.record import Record, say
from asbuilt.journal.turns import landing_line

if TYPE_CHECKING:
    from asbuilt.events.event import Event

_NEAR_S: Final = 10.0
_POLL_S: Final = 0.05


def take_turn(record: Record) -> bool:
    """Return whether the run is first in line for its branch; if not, record its place."""
    run, until = record.run, time.monotonic() + _NEAR_S
    with record.store.write() as session:
        ahead = landing_line.join(session, run, is_urgent=run.options.front is True)
    while len(ahead) == 1 and time.monotonic() < until:
        time.sleep(_POLL_S)
        with record.store.read() as session:
            ahead = landing_line.ahead_of(session, run)
    if not ahead:
        return True
    with record.store.write() as session:
        # The run ahead may have left since, and its turn would be lost.
        ahead = landing_line.join(session, run)
        if ahead:
            queued = LandingQueued(branch=run.options.branch, ahead=len(ahead), behind=ahead[-1])
            say(session, run, queued, f"queued/{session.now}")
    return not ahead


@dataclass(frozen=True, slots=True)
class Turn:
    """The record of a run that lands: the end of its landing is the end of its turn."""

    record: Record

    def say(self, event: Event, key: str) -> None:
        """Write an event of the run."""
        with self.record.store.write() as session:
            if isinstance(event, LandingDone | LandingRefused):
                landing_line.leave(session, self.record.run)
            say(session, self.record.run, event, key)

    def hold(self) -> None:
        """Raise unless the run is still this worker's."""
        self.record.hold()
