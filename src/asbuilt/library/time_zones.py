"""Time zones by name, because an offset has no daylight saving time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from asbuilt.errors import SettingInvalid

_LOCALTIME: Final = Path("/etc/localtime")
_TIMEZONE: Final = Path("/etc/timezone")
_FOLDER: Final = "zoneinfo/"


def zone_name(chosen: str, environ: Mapping[str, str]) -> str:
    """Return the time zone of schedules: the setting, else TZ, else the machine's; UTC if it has none."""
    for name in (chosen, environ.get("TZ", "").removeprefix(":")):
        if name:
            return zone_called(name).key
    return zone_called(_of_machine() or "UTC").key


def zone_called(name: str) -> ZoneInfo:
    """Return a time zone by name; raises `SettingInvalid`."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SettingInvalid(
            f'"{name}" is not a zone that this machine knows',
            why="Times would be those of another place, and a schedule could fire at the wrong hour.",
            next_step="`asbuilt config set time.zone Europe/Prague`, with yours;"
            " or see who sets it: `asbuilt config show --origin`",
        ) from error


def _of_machine() -> str:
    try:
        target = str(_LOCALTIME.resolve(strict=True))
        if _FOLDER in target:
            return target.partition(_FOLDER)[2]
        return _TIMEZONE.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
