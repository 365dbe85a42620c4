"""Keep the machine awake while agents run.

The system's own program (`systemd-inhibit`, `caffeinate`) blocks sleep as long as its child runs. The child
runs until a pipe closes that only this process holds open, so a crash of this process ends the block, too.
"""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_WHAT: Final = ("idle:sleep", "idle")
"""Locks to request from logind, in order: not every session may block `sleep`."""
_CHILD: Final = ("/bin/sh", "-c", "echo held; exec cat >/dev/null")
_ANSWER_S: Final = 5.0
_GONE_S: Final = 5.0


@contextmanager
def awake() -> Iterator[str | None]:
    """Block idle sleep; yields the name of the program that does, or None when none can."""
    words = ("--who=asbuilt", "--why=an agent is at work", "--mode=block")
    programs = [("systemd-inhibit", f"--what={what}", *words, *_CHILD) for what in _WHAT]
    for argv in [("caffeinate", "-i", *_CHILD)] if sys.platform == "darwin" else programs:
        holder = _started(argv)
        if holder is not None:
            try:
                yield argv[0]
            finally:
                _end(holder)
            return
    yield None


def _started(argv: tuple[str, ...]) -> subprocess.Popen[bytes] | None:
    """Start a program; return it once its child confirms the block within 5 s, else None."""
    try:
        holder = subprocess.Popen(  # noqa: S603 - the system's own program, by PATH
            argv,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    output = holder.stdout
    if (
        output is not None
        and select.select([output], [], [], _ANSWER_S)[0]
        and output.readline() == b"held\n"
    ):
        return holder
    _end(holder)
    return None


def _end(holder: subprocess.Popen[bytes]) -> None:
    for pipe in (holder.stdin, holder.stdout):
        if pipe is not None:
            pipe.close()
    with suppress(subprocess.TimeoutExpired):
        holder.wait(_GONE_S)
        return
    holder.kill()
    holder.wait()
