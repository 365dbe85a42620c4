"""Format times for users. Stored times are UTC; displayed times are local.

The local zone is the zone of `now`. A `now` in UTC selects the machine's zone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo


def now_in(zone: tzinfo | None) -> datetime:
    """Return the current time in a zone. None: UTC, which is displayed in the machine's zone."""
    return datetime.now(zone or UTC)


def parsed(text: str) -> datetime:
    """Parse a timestamp of the journal."""
    return datetime.fromisoformat(text).astimezone(UTC)


def zone_of(now: datetime) -> tzinfo | None:
    """Return the zone in which `now` displays times. None: the machine's zone."""
    return None if now.tzinfo is UTC else now.tzinfo


def at(text: str, now: datetime) -> str:
    """Format a time: `22:31`, with the date if it is not today."""
    then = parsed(text).astimezone(zone_of(now))
    today = now.astimezone(zone_of(now)).date()
    return f"{then:%H:%M}" if then.date() == today else f"{then:%a %d %b %H:%M}"


def to_the_second(text: str, now: datetime) -> str:
    """Format a time with seconds, for a log: `22:31:07`."""
    return f"{parsed(text).astimezone(zone_of(now)):%H:%M:%S}"


def until(text: str, now: datetime) -> str:
    """Format a future time and the time left: `02:10 CET, in 3h 04m`."""
    then = parsed(text).astimezone(zone_of(now))
    return f"{at(text, now)} {then:%Z}, in {lasting((then - now).total_seconds())}"


def lasting(seconds: float) -> str:
    """Format a duration: `48s`, `11m`, `2h`, `1h 04m`, `3d 02h`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}s"
    minutes = whole // 60
    if minutes < 60:
        return f"{minutes}m"
    hours, minutes = divmod(minutes, 60)
    if hours >= 24:
        return f"{hours // 24}d {hours % 24:02}h"
    return f"{hours}h {minutes:02}m" if minutes else f"{hours}h"


def ago(text: str, now: datetime) -> str:
    """Format the time since a timestamp: `6s`."""
    return lasting((now - parsed(text)) / timedelta(seconds=1))


def stamp(text: str) -> str:
    """Format a time for JSON: UTC, whole seconds."""
    return parsed(text).strftime("%Y-%m-%dT%H:%M:%SZ")
