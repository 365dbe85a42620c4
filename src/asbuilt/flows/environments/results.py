"""Results of a setup for one digest of manifests: files beside a tree, a HOME, and build caches.

Check environments and agents of all runs share the results, each through a view of its own. Rule: results
that a process holds are neither deleted nor changed; a repeated setup makes another generation.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.git.workspace.checkouts import delete, strange_in
from asbuilt.proof.counts import MAX_XML, Counts, from_output, from_report
from asbuilt.proof.judgement import cut_off

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository
    from asbuilt.ports import Ended
    from asbuilt.proof.trials.recorders import Loaded

_PREFIX: Final = "results."
_READY: Final = "ready"
_FORGOTTEN: Final = "forgotten"
_CLONE: Final = 0x40049409
"""FICLONE: share the blocks of another file."""


class Results:
    """The newest generation of results below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    @property
    def folder(self) -> Path | None:
        """The folder with `checkout`, `home` and `cache`; None if no setup finished."""
        generation = self._generation
        path = self._folder / f"{_PREFIX}{generation}"
        is_made = generation and (path / _READY).is_file() and not (path / _FORGOTTEN).exists()
        return path if is_made else None

    @property
    def are_made(self) -> bool:
        """Whether a setup finished."""
        return self.folder is not None

    @contextmanager
    def held(self) -> Iterator[Results]:
        """Hold a lock against deletion of the results, including those made meanwhile."""
        self._hold()
        try:
            yield self
        finally:
            self._release()

    @contextmanager
    def making(self) -> Iterator[Path | None]:
        """Yield an empty folder for a generation, to `finish`; None: another process made it meanwhile."""
        generation = self._generation
        is_forgotten = (self._folder / f"{_PREFIX}{generation}" / _FORGOTTEN).exists()
        path = self._folder / f"{_PREFIX}{max(generation + is_forgotten, 1)}"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with locked(path, waits=True):
                if (path / _READY).is_file():
                    yield None
                else:
                    for left in path.iterdir():
                        delete(left)
                    yield path
        finally:
            self._hold()

    def finish(self, made: Path) -> None:
        """Mark results as ready."""
        (made / "checkout").mkdir(exist_ok=True)
        fresh = made / f".{_READY}"
        fresh.touch()
        fresh.rename(made / _READY)

    def forget(self) -> None:
        """Make the next setup create another generation."""
        if self.folder is not None:
            (self.folder / _FORGOTTEN).touch()

    def _hold(self) -> None:
        self._release()
        if self.folder is not None:
            self._descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def _release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def _generation(self) -> int:
        found = self._folder.glob(f"{_PREFIX}*")
        return max((int(path.name.removeprefix(_PREFIX)) for path in found), default=0)


def move_made(repository: Repository, tree: str, checkout: Path, made: Path) -> None:
    """Move files that a setup left in a checkout and that are not in its tree."""
    made.mkdir(parents=True, exist_ok=True)
    for path in strange_in(repository, tree, checkout):
        if path.name != ".git":
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (checkout / path).rename(made / path)


def lay(made: Path, place: Path) -> None:
    """Copy a folder over another. Existing files stay, and no link is followed: the tree may be hostile."""
    if not made.is_dir():
        return
    with os.scandir(made) as found:
        for entry in found:
            to = place / entry.name
            if entry.is_symlink():
                if not os.path.lexists(to):
                    to.symlink_to(Path(entry.path).readlink())
            elif entry.is_dir():
                if not os.path.lexists(to):
                    to.mkdir(mode=stat.S_IRWXU)
                    lay(Path(entry.path), to)
                    shutil.copystat(entry.path, to)
                elif to.is_dir() and not to.is_symlink():
                    lay(Path(entry.path), to)
            elif entry.is_file() and not os.path.lexists(to):
                _copy(Path(entry.path), to)


def _copy(file: Path, to: Path) -> None:
    """Clone the file if the file system can, else copy it."""
    with file.open("rb") as source, to.open("xb") as target:
        try:
            fcntl.ioctl(target, _CLONE, source.fileno())
        except OSError:
            shutil.copyfileobj(source, target, 1 << 20)
    shutil.copystat(file, to)


class Ran(NamedTuple):
    """A command that ran in a check environment."""

    command: str
    tree: str
    setup: str
    ended: Ended
    report: bytes | None = None
    """The runner's report; None if it wrote none."""
    strays: tuple[Loaded, ...] = ()
    """Modules of the project that were loaded, but never from the checkout."""

    @property
    def cut_off(self) -> str | None:
        """What ended the command early; None if it ended itself."""
        return cut_off(self.ended.exit_code, self.ended.output)

    @property
    def reported(self) -> Counts | None:
        """Counts from the runner's report."""
        return None if self.report is None else from_report(self.report)

    @property
    def printed(self) -> Counts | None:
        """Counts from the runner's output."""
        return from_output(self.ended.output.decode("utf-8", "replace"), cut=self.ended.truncated)

    @property
    def counts(self) -> Counts | None:
        """Counts from the runner's report if it wrote one, else from its output."""
        return self.reported or self.printed


def fresh(folder: Path) -> Path:
    """Replace whatever is at a path with an empty folder."""
    delete(folder)
    folder.mkdir(mode=0o700)
    return folder


@contextmanager
def locked(folder: Path, *, waits: bool) -> Iterator[bool]:
    """Lock a folder, at most until this process dies; yield False if taken and it does not wait."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


def put(place: Path, path: str, content: bytes | None) -> None:
    """Write a file below a folder, or delete it. No link is followed: the tree may be hostile."""
    *folders, name = path.split("/")
    for folder in folders:
        place = place / folder
        if place.is_symlink() or not place.is_dir():
            if content is None:
                return
            delete(place)
            place.mkdir(mode=stat.S_IRWXU)
    delete(place / name)
    if content is not None:
        (place / name).write_bytes(content)


def content_of(report: Path, cap: int = MAX_XML) -> bytes | None:
    """Read at most `cap` + 1 bytes that a check wrote; None unless it is a regular file. Follows no link."""
    try:
        descriptor = os.open(report, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as opened:
        return opened.read(cap + 1)
