"""Format schedules. Rule: due times are read from the schedule, never computed here."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from asbuilt.cli.ui.clock import at, parsed, stamp, until
from asbuilt.cli.ui.words import by_whom

if TYPE_CHECKING:
    from asbuilt.journal.schedules import Over, Schedule


def schedule_sentence(schedule: Schedule, now: datetime) -> str:
    """Return when a schedule fires next: `every 4h; next 22:09 CET, in 3h 45m`."""
    every = schedule.cadence if " " in schedule.cadence else f"every {schedule.cadence}"
    if schedule.phase is not None:
        where = f"phase {schedule.phase} is" if schedule.phase != "-" else "a run is"
        deferred = f"deferred since {at(schedule.slot, now)}, {where} in progress"
        return f"{every}; {deferred}; looks again {when(schedule, now)}"
    return f"{every}; next {when(schedule, now)}"


def over_words(over: Over, now: datetime) -> str:
    """Return when and why a schedule ended: `ended 22:09: its run failed`."""
    return f"ended {at(over.at, now)}{by_whom(over.reason)}"


def when(schedule: Schedule, now: datetime) -> str:
    """Return when a schedule is due: a future time, or `now, due since 22:09`."""
    return (
        until(schedule.due_at, now)
        if parsed(schedule.due_at) > now
        else f"now, due since {at(schedule.due_at, now)}"
    )


def command_of(schedule: Schedule) -> str:
    """Return the command line that a schedule runs."""
    between = schedule.options.between
    hours = f" --between {between.hours}" if between else ""
    return f"asbuilt run {schedule.slug} --auto{' --hold' if schedule.options.hold else ''}{hours}"


def schedule_json(schedule: Schedule | None) -> dict[str, Any] | None:
    """Return a schedule as JSON data."""
    return schedule and {
        "id": schedule.schedule,
        "plan": schedule.plan,
        "cadence": schedule.cadence,
        "zone": schedule.zone,
        "next": stamp(schedule.due_at),
        "slot": stamp(schedule.slot),
        "deferrals": schedule.deferrals,
        "since": stamp(schedule.since),
        "command": command_of(schedule),
    }
