"""How long a run has worked: since its start, without the times in which it waited. Pure.

The one rule: only the times of events are counted, so the same events give the same hours. A wait is over
when the next work is said to begin; where only its end was written down, when the wait was due to end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from asbuilt.events.approvals import ApprovalAnswered, ApprovalAsked, ApprovalPutOff
from asbuilt.events.attempts import AttemptBegun, TogetherJudging, VerifierBegun
from asbuilt.events.phases import PhaseBegun
from asbuilt.events.plans import DraftWritten, PlanApproved
from asbuilt.events.pulls import PullSeen
from asbuilt.events.runs import (
    AttentionCalled,
    PauseAsked,
    ResumeAsked,
    RunHastened,
    RunParked,
    RunStarted,
    RunTakenOver,
    StopAsked,
    TroubleMet,
)
from asbuilt.lifecycle.approval import REVISED
from asbuilt.lifecycle.run.timers import moment

if TYPE_CHECKING:
    from asbuilt.events.event import Entry, Event


WAITS_ON: Final = (RunParked, PauseAsked, ApprovalAsked, ApprovalPutOff, AttentionCalled, DraftWritten)
"""What is written of a run that waits, and leaves it waiting."""
_SAID: Final = (ApprovalAnswered, PlanApproved, ResumeAsked, RunHastened, StopAsked)
"""A person's word, by which a run that waits is due at once."""
_FIRST: Final = (PhaseBegun, AttemptBegun, VerifierBegun, TogetherJudging, PullSeen, RunTakenOver)
"""What is written before the work that it names: until then a run has waited, however late that was."""


class WorkTime(Struct):
    """The time of one run, heard event by event."""

    before_s: float = 0.0
    """What it had worked when it last began to wait."""
    works_since: str = ""
    """Empty while it waits."""
    due_at: str | None = None
    """When a wait is over; None: when somebody says so."""

    def hear(self, entry: Entry) -> None:
        """Hear an event of the run, with the time at which it was written."""
        at, event = entry.at, entry.event
        if not at:
            return
        if isinstance(event, RunStarted):
            self.before_s, self.works_since = 0.0, at
        elif not self.works_since:
            self._hear_waiting(event, at)
        if isinstance(event, RunParked | TroubleMet):
            self.before_s, self.works_since = self.worked_s(at), ""
            until = event.until if isinstance(event, RunParked) else event.retry_at
            self.due_at = max(at, until) if until else None

    def _hear_waiting(self, event: Event, at: str) -> None:
        is_revised = isinstance(event, ApprovalAnswered) and event.answer == REVISED
        if is_revised or isinstance(event, WAITS_ON):
            return
        due_at = min(at, self.due_at or at)
        if isinstance(event, _SAID):
            self.due_at = due_at
        else:
            self.works_since = at if isinstance(event, _FIRST) else due_at

    def worked_s(self, now: str) -> float:
        """Say how long it has worked by now; a clock that was set back has let no time pass."""
        if not self.works_since:
            return self.before_s
        return self.before_s + max(0.0, (moment(now) - moment(self.works_since)).total_seconds())
