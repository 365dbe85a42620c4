"""Wordings of events of a whole run: its claim, its settings and its schedule."""

from __future__ import annotations

import json
from typing import Final

from asbuilt.cli.ui.clock import stamp
from asbuilt.cli.ui.words import by_whom
from asbuilt.cli.wording.work import HASH, Words, wording
from asbuilt.events import runs, schedules
from asbuilt.lifecycle.schedule.firing import deferral_min, is_deferral_shown
from asbuilt.lifecycle.status.timeline import why_parked


def change_words(key: str, before: object, after: object) -> str:
    """Return the sentence for a changed setting."""
    return f"{key} is now {_value(after)}; it was {_value(before)}"


def _value(value: object) -> str:
    if value is None:
        return "not set"
    return (f"`{value}`" if value else "none") if isinstance(value, str) else json.dumps(value)


def _parked(event: runs.RunParked) -> Words:
    # A transient error has its own line: TroubleMet. Lanes have the lines of their phases.
    is_news = event.reason not in (runs.WaitReason.TRANSIENT_ERROR, runs.WaitReason.LANES)
    until = f"until {stamp(event.until)}: " if event.until else ""
    return "PARKED", f"{until}{why_parked(event)}", is_news


def _started(event: runs.RunStarted) -> Words:
    left = f"; left over from {', '.join(event.left)}: asbuilt clean" if event.left else ""
    return "START", f"on {event.base[:HASH]}{left}", True


def _deferred(event: schedules.ScheduleDeferred) -> Words:
    where = f"Phase {event.phase}" if event.phase != "-" else "A run"
    cadence = f"{deferral_min(event.number)}m"
    text = f"{where} already in progress, deferring. Backoff cadence now {cadence}."
    return "DEFERRED", text, is_deferral_shown(event.number)


def _ended(event: runs.RunEnded) -> Words:
    # The event of the undo, and of a usual landing, has reported the end. Commands print the advice.
    words = runs.end_words(event.state, event.reason)
    is_reported = event.state == "undone" or (event.state == "landed" and not words)
    return event.state.upper(), words, not is_reported


RUNS: Final = (
    wording(runs.RunRequested, lambda event: ("ASKED", f"mode {event.mode}", False)),
    wording(runs.ClaimAcquired, lambda _: ("CLAIM", "taken", False)),
    wording(runs.ClaimReleased, lambda _: ("CLAIM", "released", False)),
    wording(runs.ClaimBroken, lambda event: ("CLAIM", f"broken: {event.reason}", True)),
    wording(runs.RunStarted, _started),
    wording(runs.StopAsked, lambda event: ("STOP", f"asked{by_whom(event.reason)}", True)),
    wording(runs.PauseAsked, lambda event: ("PAUSE", f"asked{by_whom(event.reason)}", True)),
    wording(runs.ResumeAsked, lambda _: ("RESUME", "requested", True)),
    wording(runs.RunHastened, lambda _: ("RESUME", "requested now", True)),
    wording(
        runs.SettingsChanged,
        lambda event: ("SETTINGS", change_words(event.key, event.before, event.after), True),
    ),
    wording(
        runs.JournalBehind,
        lambda _: (
            "BEHIND",
            "the journal was restored from an earlier state; asbuilt searches for later work",
            True,
        ),
    ),
    wording(
        runs.TroubleMet,
        lambda event: (
            "RETRY",
            (f"at {stamp(event.retry_at)}: " if event.retry_at else "") + event.words,
            True,
        ),
    ),
    wording(runs.RunParked, _parked),
    wording(
        runs.RunTakenOver,
        lambda event: ("TAKEN OVER", f"worker {event.lost} sent no heartbeat; {event.by} continues", True),
    ),
    wording(runs.ReportWritten, lambda _: ("REPORT", "written", False)),
    wording(runs.AttentionCalled, lambda event: ("NOTIFIED", f"you, by {event.way}", False)),
    # A landing has its own line: LandingDone.
    wording(runs.RunEnded, _ended),
    wording(schedules.ScheduleSet, lambda event: ("SCHEDULED", f"{event.cadence}, {event.zone}", True)),
    wording(schedules.ScheduleFired, lambda event: ("FIRES", f"its time was {event.slot}", True)),
    wording(schedules.ScheduleDeferred, _deferred),
    wording(
        schedules.ScheduleMoved,
        lambda event: ("CLOCK", f"set back; the schedule is due {event.next}", True),
    ),
    wording(
        schedules.ScheduleEnded,
        lambda event: ("SCHEDULE", f"ended: {runs.reason_words(event.reason)}", True),
    ),
)
