"""Detect changes to files that could act later: settings, hooks and plug-ins of an agent.

The sandbox protects existing files. It cannot protect files that do not exist yet, and without a sandbox
nothing is protected.

An unreadable file has the error as its digest: a change is seen only if it becomes readable.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.attempt_folder import Unreadable, read_shared, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_FILE: Final = 1 << 20
"""Larger files count by mode, size, mtime and ctime; ctime cannot be set."""
_FILES: Final = 20_000
_CAP: Final = 16 << 20


def digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return a digest of every file below `names` in a folder, at most 20,000; missing names have none."""
    found: dict[str, str] = {}
    for name in names:
        for path in _files(folder / name):
            if len(found) >= _FILES:
                return found
            found[str(path.relative_to(folder))] = _digest(path)
    return found


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the names that were added, removed or changed."""
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


class Seals:
    """Digests of the files, kept with the attempt: taken before its first start, compared at its end."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def put(self, folder: Path, names: Iterable[str], *, remade: tuple[str, ...] = ()) -> None:
        """Record the digests of `names` in a folder, unless an earlier start did.

        `remade` lists what the agent's program itself writes there when it starts.
        """
        if not self._file.exists():
            named = list(names)
            whole = {
                "folder": str(folder), "names": named, "remade": remade, "digests": digests(folder, named)
            }  # fmt: skip
            write_whole(self._file, json.dumps(whole).encode("ascii"))

    def broken(self) -> list[str]:
        """Return the files that were added, removed or changed since; empty when nothing was sealed."""
        if not self._file.exists():
            return []
        try:
            kept = json.loads(read_shared(self._file, cap=_CAP))
            folder, remade = Path(kept["folder"]), tuple(f"{name}/" for name in kept["remade"])
            changed = differing(kept["digests"], digests(folder, kept["names"]))
        except (Unreadable, ValueError, KeyError, TypeError) as error:
            return [f"{self._file.name}, which cannot be read any more: {error}"]
        return [str(folder / name) for name in changed if not name.startswith(remade)]
