"""Format schedules. Rule: due times are read from the schedule, never computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asbuilt.cli.ui.clock import at, parsed, stamp, until

if TYPE_CHECKING:
    from datetime import datetime

    from asbuilt.journal.schedules import Schedule


def sentence(one: Schedule, now: datetime) -> str:
    """Return when a schedule fires next: `every 4h; next 22:09 CET, in 3h 45m`."""
    every = one.cadence if " " in one.cadence else f"every {one.cadence}"
    if one.phase is not None:
        where = f"phase {one.phase} is" if one.phase != "-" else "a run is"
        return (
            f"{every}; deferred since {at(one.slot, now)}, {where} in progress; looks again {when(one, now)}"
        )
    return f"{every}; next {when(one, now)}"


def when(one: Schedule, now: datetime) -> str:
    """Return when a schedule is due: a future time, or `now, due since 22:09`."""
    return until(one.due_at, now) if parsed(one.due_at) > now else f"now, due since {at(one.due_at, now)}"


def command_of(one: Schedule) -> str:
    """Return the command line that a schedule runs."""
    between = one.options.between
    hours = f" --between {between.hours}" if between else ""
    return f"asbuilt run {one.slug} --auto{' --hold' if one.options.hold else ''}{hours}"


def as_json(one: Schedule | None) -> dict[str, Any] | None:
    """Return a schedule as JSON data."""
    return one and {
        "id": one.schedule,
        "plan": one.plan,
        "cadence": one.cadence,
        "zone": one.zone,
        "next": stamp(one.due_at),
        "slot": stamp(one.slot),
        "deferrals": one.deferrals,
        "since": stamp(one.since),
        "command": command_of(one),
    }
