"""Times and durations as shown on a page. Pure: the caller gives the zone."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo


def moment(text: str, zone: tzinfo | None = UTC) -> str:
    """Format a time with its date: `15 Nov 2026, 00:19`; None is the machine's own zone."""
    return f"{_read(text).astimezone(zone):%-d %b %Y, %H:%M}" if text else ""


def clock(text: str, zone: tzinfo | None = UTC) -> str:
    """Format a time of day: `00:19:07`."""
    return f"{_read(text).astimezone(zone):%H:%M:%S}" if text else ""


def zone_of(text: str, zone: tzinfo | None = UTC) -> str:
    """Return the name of the zone in which times are shown."""
    return f"{_read(text).astimezone(zone):%Z}" if text else ""


def seconds(began: str, ended: str) -> float:
    """Return the seconds between two times; 0 if the clock was set back or a time is missing."""
    return max(0.0, (_read(ended) - _read(began)).total_seconds()) if began and ended else 0.0


def lasting(span_s: float) -> str:
    """Format a duration: `0.4s`, `48s`, `11m 03s`, `2h 30m`, `3d 02h`."""
    if 0 < span_s < 10:
        return f"{span_s:.1f}s"
    whole = round(span_s)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}m {rest:02}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours < 24 else f"{hours // 24}d {hours % 24:02}h"


def _read(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
