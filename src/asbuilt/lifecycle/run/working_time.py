"""Working time of a run: since its start, without waits. Pure.

Rule: only times of events count, so the same events give the same hours. A wait ends with the event that
starts the next work; if only the end of that work was recorded, at the time the wait was due to end.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from asbuilt.events import runs
from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked, ApprovalPutOff
from asbuilt.events.attempts import AttemptBegun, TogetherJudging, VerifierBegun
from asbuilt.events.event import Entry, Event
from asbuilt.events.phases import PhaseBegun
from asbuilt.events.plans import DraftWritten, PlanApproved
from asbuilt.events.pulls import PullSeen
from asbuilt.lifecycle.approval import REVISED
from asbuilt.lifecycle.run.retry_times import moment

WAITS_ON: Final = (
    runs.RunParked,
    runs.PauseAsked,
    ApprovalAsked,
    ApprovalPutOff,
    runs.AttentionCalled,
    DraftWritten,
)
"""Events that leave a waiting run waiting."""
_USER_ACTIONS: Final = (ApprovalAnswered, PlanApproved, runs.ResumeAsked, runs.RunHastened, runs.StopAsked)
"""Events by users that make a waiting run due at once."""
_FIRST: Final = (PhaseBegun, AttemptBegun, VerifierBegun, TogetherJudging, PullSeen, runs.RunTakenOver)
"""Events written before the work that they name: until then the run has waited."""


class WorkTime(Struct):
    """Working time of one run, updated event by event."""

    before_s: float = 0.0
    """Seconds worked before the current wait or work."""
    works_since: str = ""
    """Empty while it waits."""
    due_at: str | None = None
    """When a wait ends; None: when a user acts."""

    def fold(self, entry: Entry) -> None:
        """Apply an event of the run, with its time."""
        at, event = entry.at, entry.event
        if not at:
            return
        if isinstance(event, runs.RunStarted):
            self.before_s, self.works_since = 0.0, at
        elif not self.works_since:
            self._record_waiting(event, at)
        if isinstance(event, runs.RunParked | runs.TroubleMet):
            self.before_s, self.works_since = self.worked_s(at), ""
            until = event.until if isinstance(event, runs.RunParked) else event.retry_at
            self.due_at = max(at, until) if until else None

    def _record_waiting(self, event: Event, at: str) -> None:
        is_revised = isinstance(event, ApprovalAnswered) and event.answer == REVISED
        if is_revised or isinstance(event, WAITS_ON):
            return
        due_at = min(at, self.due_at or at)
        if isinstance(event, _USER_ACTIONS):
            self.due_at = due_at
        else:
            self.works_since = at if isinstance(event, _FIRST) else due_at

    def worked_s(self, now: str) -> float:
        """Return the seconds worked by now; a clock that was set back adds nothing."""
        if not self.works_since:
            return self.before_s
        return self.before_s + max(0.0, (moment(now) - moment(self.works_since)).total_seconds())
