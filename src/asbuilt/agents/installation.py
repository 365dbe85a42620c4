"""Find the folders that a program needs to start, where the sandbox would hide them.

A program below /tmp is not there inside the sandbox, whose /tmp is its own. Its installation is shown
read-only at its path; a folder that is private or hidden as a whole is never shown.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.policy.ring import PRIVATE_TMP, SOCKET_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

_HIDING: Final = (PRIVATE_TMP, *SOCKET_FOLDERS)
_HEAD: Final = 256


def shown_for(program: str, path: str) -> tuple[str, ...]:
    """List what has to be shown of the installations of a program, its link's target and its interpreter."""
    needed = (one for started in _started(program, path) for one in (started, os.path.realpath(started)))
    return tuple(dict.fromkeys(_installation(one) for one in needed if _hides(one) is not None))


def _started(program: str, path: str) -> Iterator[str]:
    """Give the program, and the interpreter that its first line names."""
    yield program
    try:
        with Path(program).open("rb") as opened:
            head = opened.read(_HEAD)
    except OSError:
        return
    words = os.fsdecode(head.partition(b"\n")[0]).removeprefix("#!").split() if head[:2] == b"#!" else []
    if words and Path(words[0]).name == "env":
        words = [one for one in words[1:] if not one.startswith("-") and "=" not in one]
    interpreter = shutil.which(words[0], path=path) if words else None
    if interpreter is not None:
        yield interpreter


def _hides(path: str) -> str | None:
    """Name the private folder that a path is below."""
    return next((folder for folder in _HIDING if path.startswith(f"{folder}/")), None)


def _installation(path: str) -> str:
    """Choose what to show: the outermost node_modules, else what has the `bin`, else the program's folder."""
    file = Path(path)
    packages = next((one for one in reversed(file.parents) if one.name == "node_modules"), None)
    prefix = packages or (file.parent.parent if file.parent.name == "bin" else file.parent)
    chosen = next(one for one in (prefix, file.parent, file) if _hides(str(one)) is not None)
    return str(chosen)
