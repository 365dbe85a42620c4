"""See whether anything changed that would act later: settings, hooks, plug-ins of an agent.

The ring holds what is there; what is not there yet it cannot hold, and without a ring nothing is held.

The one rule: what cannot be read counts by its name and time, so that a change of it is still a change.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_FILE: Final = 1 << 20
"""Larger files count by their size and times; that of the last change of any kind cannot be set."""
_FILES: Final = 20_000


def digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Give a digest of every file below some names of a folder; what is not there has none."""
    found: dict[str, str] = {}
    for name in names:
        for path in _files(folder / name):
            if len(found) >= _FILES:
                return found
            found[str(path.relative_to(folder))] = _digest(path)
    return found


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Name what came, went or changed."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _files(path: Path) -> Iterator[Path]:
    if path.is_symlink() or path.is_file():
        yield path
        return
    for folder, folders, files in os.walk(path):
        folders.sort()
        links = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in sorted([*files, *links]))


def _digest(path: Path) -> str:
    try:
        if path.is_symlink():
            return f"-> {path.readlink()}"
        about = path.stat()
        if about.st_size <= _FILE and path.is_file():
            return f"{about.st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return f"{about.st_mode:o} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}"
