"""Lock a repository, and remove our own stale git locks. Rule: a lock without our record is never removed.

Git locks with files, and a killed git leaves them behind. So before our git takes a lock, we check that the
lock is free and record its name. A process that holds the repository and finds such a record knows that the
process that wrote it is dead, and that the lock was created after the record.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from asbuilt.errors import GateStopped, RepositoryBusy
from asbuilt.git.command import Git, check_ref_name

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository

_RECORD: Final = "asbuilt-locks"
_PATIENCE_S: Final = 10.0
_LAST_CHANCE_S: Final = 1.0


@contextmanager
def guarded(folder: Path, *, patience_s: float = 60.0) -> Iterator[int]:
    """Lock a folder against other asbuilt processes; yield the descriptor that holds the lock.

    The lock is an flock on the folder itself, so it leaves no file. Processes that inherit the descriptor
    share the lock: it is released when the last git that inherited it has ended.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _wait_for(descriptor, folder, patience_s)
        yield descriptor
    finally:
        os.close(descriptor)


def need_writable(repository: Repository) -> None:
    """Raise `GateStopped` if this user cannot write to the `.git` folder."""
    for folder in (repository.common, repository.common / "objects", repository.common / "refs"):
        if not os.access(folder, os.W_OK):
            raise GateStopped(
                f"{folder} is read-only for you",
                why="asbuilt keeps workspaces, attempts and what it lands in the repository's git folder.",
                next_step=f"`ls -ld {quote(str(folder))}` names its owner; or work in a clone of it.",
            )


@contextmanager
def recorded(repository: Repository, *locks: str) -> Iterator[None]:
    """Record the locks that git is about to take. The caller holds the repository.

    Waits up to 10 s for locks that another git holds, then raises `RepositoryBusy`.
    """
    heal(repository)
    until = time.monotonic() + _PATIENCE_S
    while taken := [lock for lock in locks if (repository.common / lock).exists()]:
        if time.monotonic() > until:
            raise RepositoryBusy(
                f"another git holds {taken[0]}",
                why=f"It was there for {_PATIENCE_S:g} seconds, and asbuilt did not make it.",
                next_step="`pgrep -l git` shows whether it runs;"
                f" or, if none does: `rm {quote(str(repository.common / taken[0]))}`",
            )
        time.sleep(0.02)
    record = repository.common / _RECORD
    fresh = repository.common / f"{_RECORD}.new"
    fresh.write_bytes(b"".join(os.fsencode(lock) + b"\0" for lock in locks))
    fresh.replace(record)
    yield
    # A git that reports an error may have lost a child process, which leaves its lock behind.
    heal(repository)


@contextmanager
def writing(repository: Repository, *locks: str) -> Iterator[Git]:
    """Hold the repository for one change that takes these locks; yield its `Git`."""
    with guarded(repository.common) as descriptor, recorded(repository, *locks):
        yield replace(repository.git, descriptors=(descriptor,))


def heal(repository: Repository) -> None:
    """Remove stale locks of our own git processes. The caller holds the repository."""
    record = repository.common / _RECORD
    (repository.common / f"{_RECORD}.new").unlink(missing_ok=True)
    try:
        names = record.read_bytes().split(b"\0")[:-1]
    except FileNotFoundError:
        return
    for name in names:
        lock = repository.common / os.fsdecode(name)
        if _is_plain(os.fsdecode(name)) and is_still(lock):
            lock.unlink(missing_ok=True)
    record.unlink(missing_ok=True)


def heal_left(repository: Repository) -> None:
    """Remove stale locks of our own git processes, if any; does not wait for a process that is alive."""
    if (repository.common / _RECORD).exists():
        with suppress(RepositoryBusy), guarded(repository.common, patience_s=0):
            heal(repository)


def lock_of(ref: str) -> str:
    """Return the name of the lock that git takes for a ref."""
    return f"{check_ref_name(ref)}.lock"


def set_ref(repository: Repository, ref: str, *, new: str, old: str | None, why: str = "asbuilt") -> bool:
    """Swap a ref from `old` (None: it must not exist) to `new`; return False if it was not at `old`."""
    with writing(repository, lock_of(ref)) as git:
        swap = ("update-ref", "--no-deref", "-m", why, ref, new, old or repository.nothing)
        result = git.run(*swap, allowed=(0, 1, 128))
        if result.code and "but expected" not in result.err and "already exists" not in result.err:
            result = git.run(*swap)
    return result.code == 0


def drop_ref(repository: Repository, ref: str, *, old: str) -> None:
    """Delete a ref that is at `old`."""
    with writing(repository, lock_of(ref), "packed-refs.lock") as git:
        git.run("update-ref", "--no-deref", "-d", ref, old)


def is_still(path: Path) -> bool:
    """Return whether a git file stays unchanged for 1 s: a running git keeps such a file only briefly."""
    seen = _mark(path)
    until = time.monotonic() + _LAST_CHANCE_S
    while seen is not None and time.monotonic() < until:
        time.sleep(0.05)
        if _mark(path) != seen:
            return False
    return seen is not None


def _mark(lock: Path) -> tuple[int, int, int] | None:
    try:
        status = lock.lstat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _is_plain(name: str) -> bool:
    path = PurePosixPath(name)
    return name.endswith(".lock") and not path.is_absolute() and ".." not in path.parts


def _wait_for(descriptor: int, folder: Path, patience_s: float) -> None:
    until = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > until:
                raise RepositoryBusy(
                    f"another asbuilt is at work in {folder}",
                    why=f"It, or a git that it started, has not ended within {patience_s:g} seconds.",
                    next_step=f"`fuser -v {quote(str(folder))}` names it; wait for its end, then try again.",
                ) from error
            time.sleep(0.005)
        else:
            return
