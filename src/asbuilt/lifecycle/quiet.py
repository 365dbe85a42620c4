"""When nobody is to be disturbed: `22:00-07:00`, in the user's own zone. Pure, but for the machine's zone.

The one rule: what is quiet is told by the clock on the wall, on the days when it is changed, too.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import time, tzinfo


class Hours(NamedTuple):
    """A stretch of every day, over midnight where it ends before it begins."""

    start: time
    end: time

    def holds(self, wall: time) -> bool:
        """Tell whether a time of the day is in it; its end is not."""
        if self.start < self.end:
            return self.start <= wall < self.end
        return wall >= self.start or wall < self.end


def quiet_until(hours: Hours, moment: datetime, zone: tzinfo | None) -> datetime | None:
    """Say when quiet hours end that a moment lies in; None when it lies in none. `zone` None: the machine's.

    An end that the clock leaves out is as much later as the clock is put forward.
    """
    local = moment.astimezone(zone)
    if not hours.holds(local.time()):
        return None
    is_tomorrow = hours.start > hours.end and local.time() >= hours.start
    day = local.date() + timedelta(days=is_tomorrow)
    end = datetime.combine(day, hours.end, tzinfo=zone)
    # The clock may show an end twice; the first one may be over.
    ends = (end.astimezone(UTC), end.replace(fold=1).astimezone(UTC))
    return next((one for one in ends if one > moment), ends[0])
