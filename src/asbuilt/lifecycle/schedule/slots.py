"""Compute the next slot of a schedule. Pure.

Rule: a slot is a moment in UTC that depends only on cadence, zone and anchor.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import assert_never

from cronsim import CronSim

from asbuilt.lifecycle.schedule.grammar import Cadence, Cron, DaysAt, Interval


def next_after(cadence: Cadence, after: datetime, zone: tzinfo, *, anchor: datetime) -> datetime:
    """Return the first slot after a moment, in UTC; intervals count from `anchor`.

    A time that the clocks skip fires right after the gap; a time that they show twice fires once.
    """
    if isinstance(cadence, Interval):
        step = timedelta(minutes=cadence.minutes)
        # With a clock set back before the anchor the slots stay the same; the anchor itself is no slot.
        return anchor + ((after - anchor) // step + 1 or 1) * step
    # In the hour that the clocks repeat, cronsim yields past slots again.
    found = (slot.astimezone(UTC) for slot in CronSim(_expression(cadence), after.astimezone(zone)))
    return next(slot for slot in found if slot > after)


def _expression(cadence: DaysAt | Cron) -> str:
    match cadence:
        case DaysAt(days, hour, minute):
            return f"{minute} {hour} * * {','.join(str(day + 1) for day in days)}"
        case Cron(expression):
            return expression
        case _:
            assert_never(cadence)
