"""Times as people read them. Its one rule: what is stored is UTC, what is shown is local and says so.

Local is the zone of `now`; a `now` in plain UTC stands for the machine's own zone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo


def now_in(zone: tzinfo | None) -> datetime:
    """Tell the time in a zone; None: the machine's own."""
    return datetime.now(zone or UTC)


def parsed(text: str) -> datetime:
    """Read a time of the journal."""
    return datetime.fromisoformat(text).astimezone(UTC)


def zone_of(now: datetime) -> tzinfo | None:
    """Tell in which zone a `now` shows times; None: the machine's own."""
    return None if now.tzinfo is UTC else now.tzinfo


def at(text: str, now: datetime) -> str:
    """Say when something was: `22:31`, with its date when that is not today."""
    then = parsed(text).astimezone(zone_of(now))
    today = now.astimezone(zone_of(now)).date()
    return f"{then:%H:%M}" if then.date() == today else f"{then:%a %d %b %H:%M}"


def to_the_second(text: str, now: datetime) -> str:
    """Say when something was, for a log: `22:31:07`."""
    return f"{parsed(text).astimezone(zone_of(now)):%H:%M:%S}"


def until(text: str, now: datetime) -> str:
    """Say when something will be, and in how long: `02:10 CET, in 3h 04m`."""
    then = parsed(text).astimezone(zone_of(now))
    return f"{at(text, now)} {then:%Z}, in {lasting((then - now).total_seconds())}"


def lasting(seconds: float) -> str:
    """Say how long: `48s`, `11m`, `2h`, `1h 04m`, `3d 02h`."""
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
    """Say how long since: `6s`."""
    return lasting((now - parsed(text)) / timedelta(seconds=1))


def stamp(text: str) -> str:
    """Give a time for JSON: UTC, whole seconds."""
    return parsed(text).strftime("%Y-%m-%dT%H:%M:%SZ")
