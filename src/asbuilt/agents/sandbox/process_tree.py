"""End a process and its descendants, and identify a process despite PID reuse.

TERM goes to the descendants found in /proc. With bubblewrap, KILL goes to the launcher: its death ends the
PID namespace, from which no process escapes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.sandbox.guard import descendants

if TYPE_CHECKING:
    from asbuilt.policy.sandbox.rules import Level

_LOOK_S: Final = 0.02
_LAST_S: Final = 8.0

__all__ = ["boot_id", "descendants", "end", "start_time", "still_runs"]


def end(launcher: int, *, level: Level, grace_s: float, gone: Callable[[], bool]) -> None:
    """End what a launcher started: TERM, the grace period, KILL. `gone` reports the launcher's end."""
    _signal(descendants(launcher), signal.SIGTERM)
    if _waits(gone, grace_s):
        return
    if level == "bwrap":
        # The namespace ends with the launcher: the kernel kills all of its processes, new ones included.
        _signal([launcher], signal.SIGKILL)
    else:
        _signal(descendants(launcher), signal.SIGKILL)
        _signal([launcher], signal.SIGTERM)
    if _waits(gone, _LAST_S):
        return
    _signal([*descendants(launcher), launcher], signal.SIGKILL)
    _waits(gone, _LAST_S)


def start_time(pid: int) -> str | None:
    """Return when a process started, in clock ticks since boot; None if it is gone or without /proc."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()


def still_runs(pid: int, started: str | None) -> bool:
    """Return whether that process is still running, and not another with its PID."""
    return started is not None and start_time(pid) == started


def boot_id() -> str:
    """Return an ID of the current boot; empty where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _waits(gone: Callable[[], bool], seconds: float) -> bool:
    end_at = time.monotonic() + seconds
    while not gone():
        if time.monotonic() >= end_at:
            return False
        time.sleep(_LOOK_S)
    return True


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
