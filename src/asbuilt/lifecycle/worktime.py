"""How long a run has worked: since its start, without the times in which it waited. Pure.

The one rule: only the times of events are counted, so the same events give the same hours. A wait is over
when the next work is said to begin; where only its end was written down, when the wait was due to end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from asbuilt.lifecycle.approving import REVISED
from asbuilt.lifecycle.folded import Folded
from asbuilt.lifecycle.timers import moment

if TYPE_CHECKING:
    from collections.abc import Mapping

WAITS_ON: Final = frozenset(
    {
        "run.parked", "run.pause_asked", "approval.asked", "approval.put_off", "attention.called",
        "draft.written",
    }
)  # fmt: skip
"""What is written of a run that waits, and leaves it waiting."""
_SAID: Final = frozenset(
    {"approval.answered", "plan.approved", "run.resume_asked", "run.hastened", "run.stop_asked"}
)
"""A person's word, by which a run that waits is due at once."""
_FIRST: Final = frozenset(
    {"phase.begun", "attempt.begun", "verifier.begun", "together.judging", "pull.seen", "run.taken_over"}
)
"""What is written before the work that it names: until then a run has waited, however late that was."""


class WorkTime(Folded):
    """The time of one run, heard event by event."""

    before_s: float = 0.0
    """What it had worked when it last began to wait."""
    works_since: str = ""
    """Empty while it waits."""
    due_at: str | None = None
    """When a wait is over; None: when somebody says so."""

    def hear(self, kind: str, data: Mapping[str, Any]) -> None:
        """Hear an event of the run, with the time at which it was written."""
        at = str(data.get("at", ""))
        if not at:
            return
        if kind == "run.started":
            self.before_s, self.works_since = 0.0, at
        elif not self.works_since:
            self._hear_waiting(kind, data, at)
        if kind in ("run.parked", "trouble.met"):
            self.before_s, self.works_since = self.worked_s(at), ""
            until = data.get("until") or data.get("retry_at")
            self.due_at = max(at, until) if until else None

    def _hear_waiting(self, kind: str, data: Mapping[str, Any], at: str) -> None:
        if kind in WAITS_ON or data.get("answer") == REVISED:
            return
        due_at = min(at, self.due_at or at)
        if kind in _SAID:
            self.due_at = due_at
        else:
            self.works_since = at if kind in _FIRST else due_at

    def worked_s(self, now: str) -> float:
        """Say how long it has worked by now; a clock that was set back has let no time pass."""
        if not self.works_since:
            return self.before_s
        return self.before_s + max(0.0, (moment(now) - moment(self.works_since)).total_seconds())
