"""Compare what was shown with what is shown now. Its one rule: only what differs by the run is left out."""

from __future__ import annotations

import difflib
import re
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

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


def keep(page: Path, played: str, *, command: str) -> int:
    """Write a page anew that no longer says what happens; with --check say instead how it differs."""
    written = page.read_text(encoding="utf-8")
    before, now = stable(written), stable(played)
    if before == now:
        return 0
    if "--check" in sys.argv:
        print(*difflib.unified_diff(before.splitlines(), now.splitlines(), lineterm=""), sep="\n")
        print(f"{page.name} does not say what happens. Next: {command}")
        return 1
    page.write_text(played, encoding="utf-8")
    return 0
