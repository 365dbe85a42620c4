"""Read the verdict that an agent left in `out/`, as one reads a stranger's letter.

The one rule: an item that is not clearly passed or failed is not in the verdict.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from asbuilt.agents.folder import Unreadable, read_shared

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "verdict.json"
_CAP: Final = 1 << 20
_WHY_CAP: Final = 4_000


def verdict_in(out: Path, *, items: int) -> tuple[tuple[tuple[int, str, str], ...], str]:
    """Give the verdict, and what is wrong with what was left there (empty: nothing)."""
    if not (out / FILE).exists() and not (out / FILE).is_symlink():
        return (), ""
    try:
        rows = json.loads(read_shared(out / FILE, cap=_CAP))
    except (Unreadable, ValueError, RecursionError) as error:
        return (), f"The verdict cannot be read: {error}"
    if not isinstance(rows, list):
        return (), "The verdict is not a list."
    found: dict[int, tuple[str, str]] = {}
    twice: set[int] = set()
    wrong = 0
    for row in rows:
        match row:
            case [int(item), "PASS" | "FAIL" as word, str(why)] if 1 <= item <= items and not isinstance(
                item, bool
            ):
                if item in found:
                    twice.add(item)
                found[item] = (word, why[:_WHY_CAP])
            case _:
                wrong += 1
    for item in twice:
        del found[item]
    troubles = [f"{wrong} rows say nothing about an item"] if wrong else []
    troubles += [f"item {item} was judged twice" for item in sorted(twice)]
    return tuple((item, *found[item]) for item in sorted(found)), "; ".join(troubles)
