"""End a process with everything below it, and tell one process from another that has its number.

The one rule: TERM is a courtesy to whatever is seen; KILL goes to what the kernel cannot let escape.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.sandbox.guard import descendants

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.policy.sandbox.rules import Level

_LOOK_S: Final = 0.02
_LAST_S: Final = 8.0

__all__ = ["boot_id", "descendants", "end", "start_time", "still_runs"]


def end(launcher: int, *, level: Level, grace_s: float, gone: Callable[[], bool]) -> None:
    """End what a launcher started: TERM, the grace, KILL. `gone` tells when the launcher has ended."""
    _signal(descendants(launcher), signal.SIGTERM)
    if _waits(gone, grace_s):
        return
    if level == "bwrap":
        # The launcher's death is the namespace's: the kernel ends whatever is in it, born meanwhile or not.
        _signal([launcher], signal.SIGKILL)
    else:
        _signal(descendants(launcher), signal.SIGKILL)
        _signal([launcher], signal.SIGTERM)
    if _waits(gone, _LAST_S):
        return
    _signal([*descendants(launcher), launcher], signal.SIGKILL)
    _waits(gone, _LAST_S)


def start_time(pid: int) -> str | None:
    """Tell when a process began, in the kernel's own count; None when there is none, or no way to know."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else fields[19].decode()


def still_runs(pid: int, started: str | None) -> bool:
    """Tell whether that very process lives, not another that was given its number."""
    return started is not None and start_time(pid) == started


def boot_id() -> str:
    """Tell one run of the machine from the next; empty where the system says nothing."""
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
