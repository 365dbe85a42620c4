"""Survey a folder's files as a snapshot sees them. Rule: follow no link, change nothing."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from asbuilt.errors import GitFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from asbuilt.git.command import Git

LINK_TO_REPOSITORY: Final = b"160000"
_LISTED: Final = 1_000
_MEASURED: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Contents of a folder, by path relative to it."""

    files: Mapping[bytes, int]
    """Regular files and symbolic links that a snapshot keeps, with their sizes."""
    folders: tuple[bytes, ...]
    """Folders that were visited, parents first, without the root."""
    submodules: frozenset[bytes]
    """Paths of submodules whose folder is empty, as checked out."""
    ignored: tuple[tuple[str, int], ...]
    """Not kept, first 1,000: ignored files, ignored folders (trailing `/`), sockets and other special files.


    """


def entries(git: Git, tree: str) -> dict[bytes, tuple[bytes, str]]:
    """Return all entries of a tree: path to (mode, object)."""
    found = {}
    for one in git.said("ls-tree", "-r", "-z", "--full-tree", tree).fields:
        head, path = one.split(b"\t", 1)
        mode, _, name = head.split(b" ")
        found[path] = (mode, name.decode("ascii"))
    return found


def survey(git: Git, tracked: Mapping[bytes, tuple[bytes, str]]) -> Survey:
    """Walk the work tree level by level, with one `git check-ignore` per level.

    A folder or file named `.git`, in any case, is skipped. Apart from that, a nested repository is an
    ordinary folder. Tracked files are kept even if ignore rules match them.
    """
    if git.work_tree is None:
        raise ValueError("a survey needs a work tree")
    root = git.work_tree
    folders_of_tracked = {path[:place] for path in tracked for place in _slashes(path)}
    files: dict[bytes, int] = {}
    folders: list[bytes] = []
    submodules: set[bytes] = set()
    ignored: list[tuple[str, int]] = []
    level: list[tuple[bytes, bool]] = [(b"", False)]
    while level:
        found = [
            (path, status, hidden)
            for folder, hidden in level
            for path, status in listed(root, folder, but=b".git")
        ]
        asked = [path for path, _, hidden in found if path not in tracked and not hidden]
        shut = _ignored(git, asked)
        level = []
        for path, status, inherited in found:
            hidden = inherited or path in shut
            if stat.S_ISDIR(status.st_mode):
                if tracked.get(path, (b"", ""))[0] == LINK_TO_REPOSITORY and not listed(root, path):
                    submodules.add(path)
                elif hidden and path not in folders_of_tracked:
                    ignored.append((os.fsdecode(path) + "/", _measured(root, path)))
                else:
                    level.append((path, hidden))
                    folders.append(path)
            elif (hidden and path not in tracked) or not _can_be_kept(status):
                ignored.append((os.fsdecode(path), status.st_size))
            else:
                files[path] = status.st_size
    return Survey(
        files=files,
        folders=tuple(folders),
        submodules=frozenset(submodules),
        ignored=tuple(sorted(ignored)[:_LISTED]),
    )


def listed(root: Path, folder: bytes, *, but: bytes = b"") -> list[tuple[bytes, os.stat_result]]:
    """List one folder without following links: (path relative to the root, status)."""
    before = folder + b"/" if folder else b""
    try:
        with os.scandir(os.fsencode(root / os.fsdecode(folder))) as scanned:
            return [
                (before + one.name, one.stat(follow_symlinks=False))
                for one in sorted(scanned, key=lambda entry: entry.name)
                if one.name.lower() != but
            ]
    except OSError as error:
        named = os.fsdecode(folder) or "the workspace"
        raise GitFailed(
            f"{named} cannot be read: {(error.strerror or 'unknown').lower()}",
            why="A snapshot keeps every file, so one that cannot be read stops it; nothing was written.",
            next_step="Mend the permissions in the workspace, then resume.",
        ) from error


def _ignored(git: Git, paths: list[bytes]) -> frozenset[bytes]:
    if not paths:
        return frozenset()
    # `./` keeps a name that begins with `:` from being read as a pathspec.
    given = b"".join(b"./" + path + b"\0" for path in paths)
    said = git.said("check-ignore", "-z", "--no-index", "--stdin", stdin=given, allowed=(0, 1))
    return frozenset(path.removeprefix(b"./") for path in said.fields)


def _slashes(path: bytes) -> list[int]:
    return [place for place, byte in enumerate(path) if byte == 0x2F]


def _can_be_kept(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)


def _measured(root: Path, folder: bytes) -> int:
    """Add up the sizes in an ignored folder, over at most 20,000 files; the sum is only reported."""
    size = seen = 0
    for _, _, files, at in os.fwalk(root / os.fsdecode(folder)):
        for name in files:
            seen += 1
            if seen > _MEASURED:
                return size
            size += os.stat(name, dir_fd=at, follow_symlinks=False).st_size
    return size
