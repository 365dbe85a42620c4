"""Compare what was shown with what is shown now. Its one rule: only what differs by the run is left out."""

from __future__ import annotations

import re
from typing import Final

_VARIES: Final = (
    (r"\b\d\d:\d\d(:\d\d)?\b", "[TIME]"),
    (r"\b([0-9a-f]{40}|[0-9a-f]{7})\b", "[HASH]"),
    (r"\bsha256:[0-9a-f]{4,}", "[DIGEST]"),
    (r" *\b\d+(h \d\d)?[ms]\b", " [AGE]"),
    (r"\bpid \d+", "pid [PID]"),
    (r"\basbuilt \d\S*", "asbuilt [VERSION]"),
    (r"/\S*/asbuilt-demo-\w+", "[FOLDER]"),
)


def stable(text: str) -> str:
    """Give a text in which times, hashes, ages, processes and folders have names instead."""
    for pattern, name in _VARIES:
        text = re.sub(pattern, name, text)
    return text
