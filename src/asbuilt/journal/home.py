"""The state folder: one per user, private (mode 0700), on a local disk."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Final

from asbuilt.errors import StoreFailed

_REMOTE: Final = frozenset("nfs nfs4 cifs smb3 smbfs afs ncpfs fuse.sshfs glusterfs ceph lustre 9p".split())
_ROOM: Final = 1 << 20
"""Free bytes below which a database may fail to store a row."""
_FILES: Final = 16
_MOUNTS: Final = Path("/proc/self/mounts")
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


class Home:
    """The state folder and the paths in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / "journal.db"
        self.runs = path / "runs"
        """A folder per run: its attempts, its environment."""
        self.board = path / "board"
        """The board's port, cookie and address."""
        self.schedules = path / "schedules"
        """A folder per schedule: the environment of its runs."""
        self.workspaces = path / "workspaces"
        self.blobs = path / "blobs"
        """Texts and outputs, by digest."""
        self.edits = path / "edits"
        """Users' edits of drafts, until they are revisions."""
        self.scratch = path / "scratch"
        """Temporary files of the worker; a new worker deletes them."""
        self.worker_lock = path / "worker.lock"
        """Lock of this user's only worker."""
        self.worker_id = path / "worker.id"
        self.worker_log = path / "worker.log"


def refuse_network(path: Path) -> None:
    """Raise `StoreFailed` for a state folder on a network file system; create nothing."""
    kind = _file_system(path)
    if kind in _REMOTE:
        raise StoreFailed(
            f"the state folder {path} is on a network file system ({kind})",
            why="Locks and syncs are less reliable there; a crash could lose data that was confirmed.",
            next_step="`export ASBUILT_HOME=/var/tmp/asbuilt-$USER`, or another folder on a local disk.",
        )


def open_home(path: Path) -> Home:
    """Create the state folder if it does not exist, private to its user."""
    refuse_network(path)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise StoreFailed(
            f"the state folder {path} cannot be used: {error.strerror or error}",
            why="asbuilt records each step there before it takes the step.",
            next_step="`export ASBUILT_HOME=/var/tmp/asbuilt-$USER`, or another folder of yours.",
        ) from error
    return Home(path)


def is_full(path: Path) -> bool:
    """Return whether the state folder's disk has less than 1 MiB or 16 inodes free."""
    try:
        room = os.statvfs(path)
    except OSError:
        return False
    return room.f_bavail * room.f_frsize < _ROOM or (room.f_files > 0 and room.f_favail < _FILES)


def _file_system(path: Path) -> str:
    """Return the type of the file system that has a path; "" if the system does not report it."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    whole = path.absolute()
    best, kind = -1, ""
    for line in mounts:
        fields = line.split(" ")
        if len(fields) > 2 and whole.is_relative_to(fields[1]) and len(fields[1]) > best:
            best, kind = len(fields[1]), fields[2]
    return kind


def machine() -> str:
    """Return the machine's name and boot id, so that pids from before a reboot are not trusted."""
    try:
        boot = _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        boot = str(uuid.getnode())
    return f"{os.uname().nodename}/{boot[:8]}"
