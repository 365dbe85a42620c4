"""Supervise a command so that no process of it outlives the parent.

    guard.py PARENT exec|stay [POINT OPTIONS]... -- ARGV

Mounts an overlay with OPTIONS on each POINT, in a user and mount namespace that only the command has.

Standard library only, run by its path. `exec` execs the command (bubblewrap, which ends its own namespace).
`stay` supervises the command where there is no namespace. It is best effort: `kill -9` on the guard itself
leaves orphans.

Rule: the parent-death signal is set before the command starts, and PARENT is checked after that, so that the
death of the parent cannot be missed.
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
    """Set the parent-death signal, then start the command."""
    parent, mode, at = int(sys.argv[1]), sys.argv[2], sys.argv.index("--")
    overlays, argv = sys.argv[3:at], sys.argv[at + 1 :]
    if overlays:
        _lay(list(zip(overlays[::2], overlays[1::2], strict=True)))
    # Only after the namespace: a change of credentials clears the parent-death signal.
    _prctl(_PARENT_DEATH, signal.SIGKILL if mode == "exec" else signal.SIGTERM)
    if os.getppid() != parent:
        return _ORPHANED
    if mode == "exec":
        _become(argv)
    return _watch(parent, argv)


def _lay(overlays: list[tuple[str, str]]) -> None:
    """Mount overlays in a new namespace; the mounts end with its last process."""
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
        # Only Linux signals the death of the parent; poll every second.
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
            # Send TERM once. With KILL, list the processes again, to catch new ones.
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
    """List every running process below a PID, from /proc; empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208  this file starts in every sandbox: no pathlib
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
