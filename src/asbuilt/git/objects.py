"""Read git objects by their full names. Rule: a name that could mean another object later is not accepted.

Each repository has one `git cat-file --batch-command`, which answers every read of this process. It ends when
its input is closed, so also when this process is killed, and it holds no lock. A name that it does not find
is looked up again by a new process, which sees packs and alternates that were added meanwhile.
"""

from __future__ import annotations

import atexit
import os
import select
import subprocess
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from threading import Lock
from typing import IO, Final, NamedTuple

from asbuilt.errors import GitFailed
from asbuilt.git.command import Git, check_oid

FOLDER: Final = b"40000"
_AT_ONCE: Final = 200
"""Most names in one request: fewer bytes than a pipe holds, so writing never waits for reading."""
_READERS: Final = 8
_KEPT: Final = 4_096
_KEPT_SIZE: Final = 65_536
"""Commits and trees up to this size are kept in memory, at most 4,096 of a repository."""


class Object(NamedTuple):
    """A stored object; without contents if only its kind and size were read."""

    kind: str
    size: int
    data: bytes = b""


class Entry(NamedTuple):
    """One line of a tree object."""

    mode: bytes
    name: bytes
    oid: str


class Changed(NamedTuple):
    """A file that differs between two trees; None where it does not exist."""

    path: bytes
    old: Entry | None
    new: Entry | None


def read_object(git: Git, name: str, kind: str) -> bytes:
    """Return the contents of an object of a kind; raise `GitFailed` if the repository lacks it."""
    found = read_all(git, [name])[0]
    if found is None or found.kind != kind:
        what = "does not have it" if found is None else f"has a {found.kind} of that name"
        raise GitFailed(
            f"there is no {kind} {name[:12]}",
            why=f"The repository at {git.git_dir} {what}.",
            next_step=f"`git -C {quote(str(git.git_dir))} fsck`, or fetch what is missing.",
        )
    return found.data


def read_all(git: Git, names: Sequence[str]) -> list[Object | None]:
    """Return objects with their contents, in order; None for one that the repository lacks."""
    return _reader(git).read(names)


def measure(git: Git, names: Sequence[str]) -> list[Object | None]:
    """Return kind and size of objects, in order; None for one that the repository lacks."""
    return _reader(git).measure(names)


def tree_of(git: Git, name: str) -> str:
    """Return the tree of a commit, or a tree's own name."""
    found = read_all(git, [name])[0]
    if found is not None and found.kind == "commit":
        return found.data[5 : found.data.index(b"\n")].decode("ascii")
    return name


def entries_of(git: Git, tree: str) -> tuple[Entry, ...]:
    """Return the entries of one tree object, folders included."""
    return tuple(_parsed(read_object(git, tree, "tree"), len(tree) // 2))


def walk(git: Git, tree: str) -> Iterator[tuple[bytes, Entry]]:
    """Yield the files below a tree, with their paths; one request per depth of folders."""
    level = [(b"", tree)]
    while level:
        found = read_all(git, [name for _, name in level])
        deeper = []
        for (path, name), git_object in zip(level, found, strict=True):
            data = (
                git_object.data
                if git_object is not None and git_object.kind == "tree"
                else read_object(git, name, "tree")
            )
            for entry in _parsed(data, len(name) // 2):
                if entry.mode == FOLDER:
                    deeper.append((path + entry.name + b"/", entry.oid))
                else:
                    yield path + entry.name, entry
        level = deeper


def compare(git: Git, before: str, after: str) -> list[Changed]:
    """Return the files that differ between two trees or commits, by path; equal folders are skipped."""
    found: list[Changed] = []
    level: list[tuple[bytes, str | None, str | None]] = [(b"", tree_of(git, before), tree_of(git, after))]
    while level:
        level = [pair for pair in level if pair[1] != pair[2]]
        names = [name for _, *both in level for name in both if name is not None]
        read_all(git, names)  # one request; what follows is in memory, unless it is very large
        deeper: list[tuple[bytes, str | None, str | None]] = []
        for path, *both in level:
            old, new = ({row.name: row for row in entries_of(git, name)} if name else {} for name in both)
            for name in old.keys() | new.keys():
                sides = old.get(name), new.get(name)
                if sides[0] == sides[1]:
                    continue
                files = [None if side is None or side.mode == FOLDER else side for side in sides]
                folders = [side.oid if side is not None and side.mode == FOLDER else None for side in sides]
                if any(folders):
                    deeper.append((path + name + b"/", folders[0], folders[1]))
                if any(files):
                    found.append(Changed(path + name, files[0], files[1]))
        level = deeper
    return sorted(found, key=lambda change: change.path)


def find(git: Git, tree: str, path: bytes) -> Entry | None:
    """Return the entry of a tree, or of a commit's tree, at a path; None if there is none."""
    *folders, last = path.split(b"/")
    here = tree_of(git, tree)
    for folder in folders:
        entry = next((candidate for candidate in entries_of(git, here) if candidate.name == folder), None)
        if entry is None or entry.mode != FOLDER:
            return None
        here = entry.oid
    return next((candidate for candidate in entries_of(git, here) if candidate.name == last), None)


def _parsed(data: bytes, width: int) -> Iterator[Entry]:
    at = 0
    while at < len(data):
        space = data.index(b" ", at)
        end = data.index(b"\0", space)
        yield Entry(data[at:space], data[space + 1 : end], data[end + 1 : end + 1 + width].hex())
        at = end + 1 + width


class _Reader:
    """The process that reads one repository; used by one thread at a time."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._ahead = bytearray()
        self._kept: OrderedDict[str, Object] = OrderedDict()

    def read(self, names: Sequence[str]) -> list[Object | None]:
        with self._lock:
            missing = [name for name in dict.fromkeys(names) if name not in self._kept]
            found = self._asked("contents", missing)
            answer = [self._kept.get(name) or found.get(name) for name in names]
            for name, git_object in found.items():
                if git_object.kind in ("commit", "tree") and git_object.size <= _KEPT_SIZE:
                    self._kept[name] = git_object
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return answer

    def measure(self, names: Sequence[str]) -> list[Object | None]:
        with self._lock:
            found = self._asked("info", list(dict.fromkeys(names)))
            return [found.get(name) for name in names]

    def close(self) -> None:
        with self._lock:
            self._end()

    def _asked(self, verb: str, names: list[str]) -> dict[str, Object]:
        """Ask a running process first; what it lacks, or could not answer, is asked of a new one."""
        if not names:
            return {}
        found: dict[str, Object] = {}
        if self._process is not None:
            try:
                found = self._answered(verb, names)
            except EOFError:
                self._end()
        left = [name for name in names if name not in found]
        if left:
            self._end()
            try:
                found |= self._answered(verb, left)
            except EOFError as error:
                raise self._failed() from error
        return found

    def _answered(self, verb: str, names: list[str]) -> dict[str, Object]:
        process = self._started()
        assert process.stdin is not None  # noqa: S101 - a pipe, by `start`
        found: dict[str, Object] = {}
        for at in range(0, len(names), _AT_ONCE):
            some = names[at : at + _AT_ONCE]
            request = "".join(f"{verb} {check_oid(name)}\n" for name in some).encode("ascii")
            try:
                process.stdin.write(request)
            except BrokenPipeError as error:
                raise EOFError from error
            for name in some:
                while (end := self._ahead.find(b"\n")) < 0:
                    self._fill()
                head = self._taken(end + 1)[:-1].split(b" ")
                if len(head) != 3:  # `NAME missing`
                    continue
                kind, size = head[1].decode("ascii"), int(head[2])
                data = self._taken(size + 1)[:-1] if verb == "contents" else b""
                found[name] = Object(kind, size, data)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
            self._process = self._git.start("cat-file", "--batch-command", errors=self._errors)
            self._ahead.clear()
        return self._process

    def _taken(self, size: int) -> bytes:
        while len(self._ahead) < size:
            self._fill()
        taken = bytes(self._ahead[:size])
        del self._ahead[:size]
        return taken

    def _fill(self) -> None:
        stream = self._process.stdout if self._process is not None else None
        assert stream is not None  # noqa: S101 - a pipe, by `start`
        if not select.select([stream], [], [], self._git.timeout_s)[0]:
            self._end()
            raise EOFError
        chunk = os.read(stream.fileno(), 1 << 20)
        if not chunk:
            raise EOFError
        self._ahead += chunk

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _failed(self) -> GitFailed:
        message = ""
        if self._errors is not None:
            self._errors.seek(0)
            message = self._errors.read(2_000).decode("utf-8", "replace").strip()
        self._end()
        return GitFailed(
            "git cat-file failed",
            why=f"git said: {message or 'nothing'}",
            next_step="`git fsck` checks the repository; nothing was lost.",
        )


_open: Final[OrderedDict[Path, _Reader]] = OrderedDict()
_opening: Final = Lock()


def _reader(git: Git) -> _Reader:
    """Return the reader of a repository; the one that was used longest ago ends if there are more than 8."""
    with _opening:
        reader = _open.pop(git.git_dir, None) or _Reader(git)
        _open[git.git_dir] = reader
        spare = _open.popitem(last=False)[1] if len(_open) > _READERS else None
    if spare is not None:
        spare.close()
    return reader


@atexit.register
def close() -> None:
    """End every reader."""
    with _opening:
        readers = [*_open.values()]
        _open.clear()
    for reader in readers:
        reader.close()
