"""Points in time inside one write, at the border to the system: what a second program could do just then."""

from __future__ import annotations

import ctypes
import fcntl
import os
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def is_told_who_writes() -> bool:
    """Tell whether this system says that somebody has a file open for writing; some containers do not."""
    if sys.platform != "linux":
        return False
    with tempfile.NamedTemporaryFile() as theirs:
        ours = os.open(theirs.name, os.O_RDONLY)
        try:
            fcntl.fcntl(ours, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            os.close(ours)
    return False


@contextmanager
def at_every_step(act: Callable[[int], None]) -> Iterator[None]:
    """Call `act` with 0, 1, 2… before and after each step that a write takes on the disk."""
    library = ctypes.CDLL(None, use_errno=True)
    unlink, link = os.unlink, os.link
    ticks = iter(range(1_000_000))
    acting = False

    def tick() -> None:
        nonlocal acting
        if acting:  # the steps of the other program are not ours
            return
        acting = True
        act(next(ticks))
        acting = False

    def between(step: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever the system's call takes
            tick()
            try:
                return step(*arguments, **named)
            finally:
                code = ctypes.get_errno()
                tick()
                ctypes.set_errno(code)

        return stepped

    class Stepped:
        renameat2 = staticmethod(between(library.renameat2))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ctypes, "CDLL", lambda *_, **__: Stepped)
        patch.setattr(os, "fsync", between(lambda _: None))
        patch.setattr(os, "unlink", between(unlink))
        patch.setattr(os, "link", between(link))
        yield
