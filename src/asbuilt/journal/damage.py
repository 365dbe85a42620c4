"""Tell a journal that was damaged from one that is new, by its first bytes.

The one rule: nothing is written over what is left. SQLite takes an empty file for a new database, drops the
log beside it, and writes what it can into a damaged one; so it is not asked.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from asbuilt.errors import JournalDamaged

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC: Final = b"SQLite format 3\0"
_HEAD: Final = 100
_LOOKS: Final = 5
_LOOK_S: Final = 0.1


def refuse_damaged(file: Path, *, had_runs: bool) -> None:
    """Refuse a journal that is not whole; `had_runs` tells that one was here, so that none is new."""
    looks = 1
    while (how := _damage_in(file, had_runs=had_runs)) is not None:
        if looks == _LOOKS:
            raise damaged(file, how)
        # Another process may be in the middle of making it longer.
        looks += 1
        time.sleep(_LOOK_S)


def damaged(file: Path, how: str) -> JournalDamaged:
    """Say that a journal is damaged, and the way back."""
    return JournalDamaged(
        f"the journal {file} is damaged: {how}",
        why="It is the only record of what has happened, so nothing is written over what is left of it.",
        next_step=f"Put a copy of it back, with {file.name}-wal if there is one, or move it away to begin a"
        f" new one; `sqlite3 {file} .recover` shows what can still be read. What has landed is in git.",
    )


def _damage_in(file: Path, *, had_runs: bool) -> str | None:
    log = file.with_name(f"{file.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    try:
        with file.open("rb") as opened:
            head, size = opened.read(_HEAD), opened.seek(0, 2)
    except FileNotFoundError:
        return None
    if size == 0:
        return "it is empty, and runs have been here" if had_runs else None
    if len(head) < _HEAD or not head.startswith(_MAGIC):
        return "it is not a database any more"
    page = int.from_bytes(head[16:18], "big")
    whole = int.from_bytes(head[28:32], "big") * (65_536 if page == 1 else page)
    # What a log beside it holds may be what the file lacks; SQLite brings them together.
    return f"{whole - size} of its {whole} bytes are missing" if size < whole and not has_log else None
