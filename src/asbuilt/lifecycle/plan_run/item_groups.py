"""Groups of a phase's work items that name different files: subagents can work on them in parallel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_PATH: Final = re.compile(r"`([\w@.+/-]*[./][\w@.+/-]*)`")
"""A file or folder in backticks."""


def independent_groups(items: Iterable[str]) -> tuple[tuple[int, ...], ...]:
    """Group items, numbered from 1, so that no two groups name the same file or a folder around it.

    An item that names no file is in no group: nothing shows what it touches.
    """
    groups: list[tuple[set[str], list[int]]] = []
    for number, text in enumerate(items, 1):
        paths, numbers = set(_PATH.findall(text)), [number]
        if not paths:
            continue
        for group in [one for one in groups if _touch(one[0], paths)]:
            groups.remove(group)
            paths, numbers = paths | group[0], [*group[1], *numbers]
        groups.append((paths, sorted(numbers)))
    return tuple(sorted(tuple(numbers) for _, numbers in groups))


def _touch(these: set[str], those: set[str]) -> bool:
    pairs = ((one.rstrip("/"), other.rstrip("/")) for one in these for other in those)
    return any(f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/") for one, other in pairs)
