"""Stand between us and what we start, so that none of it outlives us.

    guard.py PARENT exec|stay [POINT OPTIONS]... -- ARGV

Each POINT gets an overlay mounted with OPTIONS, in a user and mount namespace that the command alone has.

Standard modules only, run by its path. `exec` becomes the command (bubblewrap, which ends its own
namespace); `stay` watches over the command where there is no namespace, and is best effort: whoever kills the
guard itself with -9 leaves orphans.

The one rule: it is bound to its parent before anything starts, so that no instant exists in which a parent's
death goes unseen.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import sys
import time
from typing import Final, NoReturn

_PARENT_DEATH, _SUBREAPER = 1, 36
_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_GRACE_S: Final = 1.0
_LAST_S: Final = 3.0
_LOOK_S: Final = 0.02
_ORPHANED: Final = 143
_WATCHED: Final = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM)


def main() -> int:
    """Bind ourselves to our parent, then start the command."""
    parent, mode, at = int(sys.argv[1]), sys.argv[2], sys.argv.index("--")
    overlays, argv = sys.argv[3:at], sys.argv[at + 1 :]
    if overlays:
        _lay(list(zip(overlays[::2], overlays[1::2], strict=True)))
    # After the namespace: a change of credentials makes the kernel forget this.
    _prctl(_PARENT_DEATH, signal.SIGKILL if mode == "exec" else signal.SIGTERM)
    if os.getppid() != parent:
        return _ORPHANED
    if mode == "exec":
        _become(argv)
    return _watch(parent, argv)


def _lay(overlays: list[tuple[str, str]]) -> None:
    """Mount overlays in a namespace of our own; the mounts end with the last process in it."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_NEW_USER | _NEW_MOUNTS):
        _refuse("unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write(text)
    for point, options in overlays:
        if libc.mount(b"overlay", os.fsencode(point), b"overlay", 0, os.fsencode(options)):
            _refuse(f"overlay on {point}")


def _refuse(what: str) -> NoReturn:
    sys.stderr.write(f"{what}: {os.strerror(ctypes.get_errno())}\n")
    sys.stderr.flush()
    os._exit(126)


def _watch(parent: int, argv: list[str]) -> int:
    _prctl(_SUBREAPER, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _prctl(_PARENT_DEATH, signal.SIGKILL)
        os.setsid()
        _become(argv)
    if sys.platform != "linux":
        # Nothing tells us of our parent's death here, so we look.
        signal.setitimer(signal.ITIMER_REAL, 1, 1)
    status: int | None = None
    while status is None:
        got = signal.sigwait(_WATCHED)
        status = _reaped(child)
        if status is None and (os.getppid() != parent or got not in (signal.SIGCHLD, signal.SIGALRM)):
            break
    _end_all(child)
    if status is None:
        return _ORPHANED
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _end_all(child: int) -> None:
    for number, seconds in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, _LAST_S)):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            living = descendants(os.getpid())
            _kill(living, child, number)
            if not living:
                return
            _reaped(child)
            # One TERM is enough; with KILL we look again, for whatever was born meanwhile.
            while number == signal.SIGTERM and time.monotonic() < end and descendants(os.getpid()):
                _reaped(child)
                time.sleep(_LOOK_S)
            time.sleep(_LOOK_S)


def _kill(living: list[int], child: int, number: signal.Signals) -> None:
    if sys.platform != "linux":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, number)
    for pid in living:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def descendants(root: int) -> list[int]:
    """List every living process below one, by what the kernel says now."""
    children: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208  this file starts in every ring: no pathlib
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields and fields[0] not in (b"Z", b"X"):
                children.setdefault(int(fields[1]), []).append(int(name))
    found, open_ = [], [root]
    while open_:
        below = children.get(open_.pop(), [])
        found += below
        open_ += below
    return found


def _reaped(child: int) -> int | None:
    status = None
    while True:
        try:
            pid, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == child:
            status = ended


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _become(argv: list[str]) -> NoReturn:
    try:
        os.execvp(argv[0], argv)  # noqa: S606  becoming the command is what this is for
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127 if error.errno == errno.ENOENT else 126)


if __name__ == "__main__":
    sys.exit(main())
