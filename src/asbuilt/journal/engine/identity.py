"""The id of a worker, stored in its state folder. A copy of the folder gets a new id."""

from __future__ import annotations

import json
import os
import uuid
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.journal.ids import new_id

if TYPE_CHECKING:
    from asbuilt.journal.home import Home

_MACHINE: Final = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


@lru_cache(maxsize=1)
def machine_id() -> str:
    """Return an id of this machine that survives reboots."""
    for file in _MACHINE:
        with suppress(OSError):
            if written := file.read_text(encoding="ascii", errors="replace").strip():
                return written
    return f"{os.uname().nodename}/{uuid.getnode():x}"


def worker_id(home: Home) -> str:
    """Return the id of this folder's worker; create it on first use. The caller holds the worker's lock.

    A copy of the folder, on another machine or on this one, gets its own id: two workers with one id would
    each treat the other's segments as its own.
    """
    file = home.worker_id
    with suppress(FileNotFoundError, ValueError, KeyError):
        told = json.loads(file.read_bytes())
        if (told["machine"], told["inode"]) == (machine_id(), file.stat().st_ino):
            return str(told["worker"])
    fresh = file.with_name(f".{file.name}.new")
    with fresh.open("w", encoding="ascii") as opened:
        worker = new_id()
        told = {"worker": worker, "machine": machine_id(), "inode": os.fstat(opened.fileno()).st_ino}
        json.dump(told, opened)
        opened.flush()
        os.fsync(opened.fileno())
    fresh.replace(file)
    return worker
