"""Survey a folder's files as a snapshot sees them. Rule: follow no link, change nothing."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote
from typing import Final

from msgspec import Struct

from asbuilt.errors import GitFailed
from asbuilt.git.command import Git
from asbuilt.git.objects import tree_of, walk

LINK_TO_REPOSITORY: Final = b"160000"
_LISTED: Final = 1_000
_MEASURED: Final = 20_000
_KEPT: Final = (stat.S_IFREG, stat.S_IFLNK)
_CHUNK: Final = 1_000_000
_LINK: Final = b"120000"
_FILE: Final = b"100644"
_PROGRAM: Final = b"100755"


class Survey(Struct, frozen=True, kw_only=True):
    """Contents of a folder, by path relative to it."""

    files: Mapping[bytes, int]
    """Regular files and symbolic links that a snapshot keeps, with their sizes."""
    folders: tuple[bytes, ...]
    """Folders that were visited, parents first, without the root."""
    submodules: frozenset[bytes]
    """Paths of submodules whose folder is empty, as checked out."""
    ignored: tuple[tuple[str, int], ...]
    """Not kept, first 1,000: ignored files, ignored folders (trailing `/`), other special files."""


def entries(git: Git, tree: str) -> dict[bytes, tuple[bytes, str]]:
    """Return all entries of a tree, or of a commit's tree: path to (mode, object)."""
    return {path: (entry.mode, entry.oid) for path, entry in walk(git, tree_of(git, tree))}


def matching(
    root: Path, wanted: Mapping[bytes, tuple[bytes, str]], seen: Iterable[bytes], *, file_mode: bool
) -> frozenset[bytes]:
    """Return the files that are on disk exactly as in a tree, by content; file times are not trusted."""
    return frozenset(
        path
        for path in seen
        if (entry := wanted.get(path)) and _is_as(root / os.fsdecode(path), *entry, file_mode=file_mode)
    )


def _is_as(file: Path, mode: bytes, oid: str, *, file_mode: bool) -> bool:
    try:
        status = file.lstat()
        if stat.S_ISLNK(status.st_mode):
            target = os.fsencode(file.readlink())
            return mode == _LINK and _hashed([target], len(target), oid) == oid
        is_program = bool(status.st_mode & stat.S_IXUSR)
        if not stat.S_ISREG(status.st_mode) or mode not in (_FILE, _PROGRAM):
            return False
        if file_mode and is_program != (mode == _PROGRAM):
            return False
        with file.open("rb") as opened:
            return _hashed(iter(lambda: opened.read(_CHUNK), b""), status.st_size, oid) == oid
    except OSError:
        # It changed since it was listed; git reports what it is now.
        return False


def _hashed(parts: Iterable[bytes], size: int, oid: str) -> str:
    """Return the name of a blob, in the format of the object name `oid`."""
    digest = hashlib.new("sha1" if len(oid) == 40 else "sha256", usedforsecurity=False)
    digest.update(b"blob %d\0" % size)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def survey(git: Git, tracked: Mapping[bytes, tuple[bytes, str]]) -> Survey:
    """Walk the work tree level by level, with one `git check-ignore` per level.

    A folder or file named `.git`, in any case, is skipped. Apart from that, a nested repository is an
    ordinary folder. Tracked files are kept even if ignore rules match them.
    """
    if git.work_tree is None:
        raise ValueError("a survey needs a work tree")
    root = git.work_tree
    folders_of_tracked = {path[:at] for path in tracked for at, byte in enumerate(path) if byte == 0x2F}
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
            elif (hidden and path not in tracked) or stat.S_IFMT(status.st_mode) not in _KEPT:
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
                (before + dir_entry.name, dir_entry.stat(follow_symlinks=False))
                for dir_entry in sorted(scanned, key=lambda entry: entry.name)
                if dir_entry.name.lower() != but
            ]
    except OSError as error:
        named, place = os.fsdecode(folder) or "the workspace", root / os.fsdecode(folder)
        raise GitFailed(
            f"{named} cannot be read: {(error.strerror or 'unknown').lower()}",
            why="A snapshot keeps every file, so one that cannot be read stops it; nothing was written.",
            next_step=f"`chmod -R u+rX {quote(str(place))} &&` `asbuilt run`",
        ) from error


def _ignored(git: Git, paths: list[bytes]) -> frozenset[bytes]:
    if not paths:
        return frozenset()
    # `./` keeps a name that begins with `:` from being read as a pathspec.
    given = b"".join(b"./" + path + b"\0" for path in paths)
    result = git.run("check-ignore", "-z", "--no-index", "--stdin", stdin=given, allowed=(0, 1))
    return frozenset(path.removeprefix(b"./") for path in result.fields)


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
