"""Atomic file operations. Callers decide what is written, and where."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import secrets
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from asbuilt.plan.markdown.source import digest

NO_FILE: Final = "not a file"
HELD: Final = "open for writing elsewhere"
_AT_FDCWD: Final = -100
_EXCHANGE: Final = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS: the same bit
_NO_REPLACE: Final = {"linux": 1, "darwin": 4}
_CANNOT: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
_NO_LINKS: Final = _CANNOT | {errno.EPERM, errno.EMLINK}
_BESIDE: Final = re.compile(r"\.[0-9a-f]{12}\.tmp$")


def seen(file: Path) -> str:
    """Return a digest of a file, HELD while another program may still write it, or what else the path is."""
    try:
        return _content(file, os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return NO_FILE
        if error.errno not in (errno.ELOOP, errno.EMLINK):
            raise
    # Writing through a symlink changes what this path shows, so its target counts.
    try:
        return f"a link to {_content(file, 0)}"
    except OSError:
        return f"a link to {NO_FILE}"


def _content(file: Path, flag: int) -> str:
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flag)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return NO_FILE
    with os.fdopen(descriptor, "rb") as opened:
        return HELD if _is_held(descriptor) else digest(opened.read())


def _is_held(descriptor: int) -> bool:
    """Return whether another program has the file open for writing; always False outside Linux."""
    if sys.platform != "linux":
        return False
    try:
        # Breaking a lease sends a signal; the default one ends the process, SIGURG is ignored.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    return False


def left_beside(real: Path) -> list[Path]:
    """List the temporary files of current or killed writers of a file."""
    start = f".{real.name[:50]}."
    found = real.parent.iterdir()
    return [path for path in found if path.name.startswith(start) and _BESIDE.search(path.name)]


def write_beside(real: Path, data: bytes) -> Path:
    """Write a temporary file next to another, with its owner and mode, and fsync it."""
    fresh = real.with_name(f".{real.name[:50]}.{secrets.token_hex(6)}.tmp")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            with suppress(FileNotFoundError):
                like = real.stat()
                # Only root may change the owner.
                with suppress(PermissionError):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
            opened.write(data)
            opened.flush()
            os.fsync(descriptor)
    except BaseException:  # cleaned up, and raised again
        fresh.unlink()
        raise
    return fresh


def exchange(path: Path, other: Path) -> bool:
    """Swap two files atomically; return False where the system or the file system cannot."""
    return _rename(path, other, _EXCHANGE)


def appear(fresh: Path, file: Path) -> None:
    """Give a temporary file its name, or raise FileExistsError. Links, because a rename would replace."""
    try:
        os.link(fresh, file)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if not _rename(fresh, file, _NO_REPLACE.get(sys.platform, 0)):
            raise
    else:
        fresh.unlink()


def _rename(path: Path, other: Path, flag: int) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        at = _AT_FDCWD
        failed = library.renameat2(at, os.fsencode(path), at, os.fsencode(other), flag)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(os.fsencode(path), os.fsencode(other), flag)
    else:
        return False
    code = ctypes.get_errno()
    if failed and code not in _CANNOT:
        raise OSError(code, os.strerror(code), str(path), None, str(other))
    return not failed


@contextmanager
def undisturbed() -> Iterator[None]:
    """Block SIGINT, SIGTERM and SIGHUP while a user's text may be out of place."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
