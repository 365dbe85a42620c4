"""A daily range of hours: `22:00-07:00`. Pure."""

from __future__ import annotations

import re
from datetime import time
from typing import Final

_CLOCK: Final = r"([01]?[0-9]|2[0-3]):([0-5][0-9])"
_WRITTEN: Final = re.compile(rf"{_CLOCK}\s*-\s*{_CLOCK}", re.ASCII)


def hours_in(text: str) -> tuple[time, time] | None:
    """Parse the start and the end; None if the text is no range, or an empty one."""
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        return None
    start, end = time(int(found[1]), int(found[2])), time(int(found[3]), int(found[4]))
    return None if start == end else (start, end)
