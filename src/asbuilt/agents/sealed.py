"""Tell whether what could act later was changed: settings, hooks, plug-ins and skills of an agent.

The one rule: the measure is taken before an attempt's first start, so that no start can become it.
"""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.folder import Unreadable, read_shared, write_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

_WHOLE: Final = 8 << 20
"""A larger file is known by its size and time: nobody's settings are that long."""
_KEPT: Final = 1 << 20
ABSENT: Final = "absent"


class Seals:
    """What of one attempt's agent is sealed, as it was before the first start."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._remade: tuple[Path, ...] = ()

    def put(self, paths: Iterable[Path], *, remade: Iterable[Path] = ()) -> None:
        """Take the measure, unless an earlier start has."""
        self._remade = tuple(remade)
        if not self._file.exists():
            write_whole(self._file, json.dumps(digests_of(paths, remade=self._remade)).encode("ascii"))

    def broken(self) -> tuple[str, ...]:
        """Name what is not as it was; nothing where nothing was sealed."""
        if not self._file.exists():
            return ()
        try:
            before = json.loads(read_shared(self._file, cap=_KEPT))
        except (Unreadable, ValueError) as error:
            return (f"{self._file.name}, which cannot be read any more: {error}",)
        return broken(before, digests_of(map(Path, before), remade=self._remade))


def digests_of(paths: Iterable[Path], *, remade: Iterable[Path] = ()) -> dict[str, str]:
    """Take the digest of each file or folder; what the program lays down anew at its start is left out."""
    left_out = frozenset(map(str, remade))
    return {str(path): _digest(path, left_out) for path in paths}


def broken(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Name what is not as it was."""
    return tuple(sorted(path for path, digest in before.items() if after.get(path) != digest))


def _digest(path: Path, left_out: frozenset[str]) -> str:
    whole = hashlib.sha256()
    is_there = False
    for row in _rows(path, left_out):
        is_there = True
        whole.update(repr(row).encode())
    return whole.hexdigest() if is_there else ABSENT


def _rows(path: Path, left_out: frozenset[str]) -> Iterator[tuple[object, ...]]:
    if str(path) in left_out:
        return
    try:
        found = path.lstat()
    except OSError:
        return
    if stat.S_ISLNK(found.st_mode):
        yield str(path), "link", str(path.readlink())
        if path.is_file():
            yield str(path), _content(path, path.stat())
    elif stat.S_ISDIR(found.st_mode):
        inner = [row for name in sorted(path.iterdir()) for row in _rows(name, left_out)]
        # An empty folder does nothing; a program may well make one.
        yield from inner
    elif stat.S_ISREG(found.st_mode):
        yield str(path), found.st_mode, _content(path, found)
    else:
        yield str(path), found.st_mode


def _content(path: Path, found: os.stat_result) -> object:
    if found.st_size > _WHOLE:
        return found.st_size, found.st_mtime_ns
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return error.errno
