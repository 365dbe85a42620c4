"""The state folder: one a user, private, on a local disk. Nothing of it lies where an agent writes."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.errors import StoreFailed

_REMOTE: Final = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "afs",
        "ncpfs",
        "fuse.sshfs",
        "glusterfs",
        "ceph",
        "lustre",
        "9p",
    }
)
_ROOM: Final = 1 << 20
"""Bytes and, far below it, files: with less of them a database cannot be counted on to take a row."""
_FILES: Final = 16
_MOUNTS: Final = Path("/proc/self/mounts")
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


class Home(NamedTuple):
    """The state folder and what lies where in it."""

    path: Path

    @property
    def journal(self) -> Path:
        """The truth about what has happened."""
        return self.path / "journal.db"

    @property
    def runs(self) -> Path:
        """A folder for each run: its attempts, its environment."""
        return self.path / "runs"

    @property
    def schedules(self) -> Path:
        """A folder for each schedule: the environment of its runs."""
        return self.path / "schedules"

    @property
    def workspaces(self) -> Path:
        """Checkouts of runs."""
        return self.path / "workspaces"

    @property
    def blobs(self) -> Path:
        """Texts and outputs by their content."""
        return self.path / "blobs"

    @property
    def edits(self) -> Path:
        """What people have made of drafts, until it is a revision."""
        return self.path / "edits"

    @property
    def scratch(self) -> Path:
        """What the worker needs for a moment; a new one clears it."""
        return self.path / "scratch"

    @property
    def worker_lock(self) -> Path:
        """Held by the one worker of this user."""
        return self.path / "worker.lock"

    @property
    def worker_id(self) -> Path:
        """The name of that worker."""
        return self.path / "worker.id"

    @property
    def worker_log(self) -> Path:
        """What the worker says when nobody listens."""
        return self.path / "worker.log"


def refuse_network(path: Path) -> None:
    """Refuse a state folder on a network file system; nothing is made."""
    kind = _file_system(path)
    if kind in _REMOTE:
        raise StoreFailed(
            f"the state folder {path} lies on a network file system ({kind})",
            why="Locks and syncs mean less there, and a crash could lose what you saw accepted.",
            next_step="Set ASBUILT_HOME to a folder on a local disk.",
        )


def open_home(path: Path) -> Home:
    """Make the state folder if it is not there, private to its user."""
    refuse_network(path)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise StoreFailed(
            f"the state folder {path} cannot be used: {error.strerror or error}",
            why="What happens is written down there before it happens.",
            next_step="Set ASBUILT_HOME to a folder that you may write to.",
        ) from error
    return Home(path)


def is_full(path: Path) -> bool:
    """Tell whether the disk of the state folder takes next to nothing any more."""
    try:
        room = os.statvfs(path)
    except OSError:
        return False
    return room.f_bavail * room.f_frsize < _ROOM or (room.f_files > 0 and room.f_favail < _FILES)


def _file_system(path: Path) -> str:
    """Tell what kind of file system holds a path, where the system tells it."""
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
    """Name this machine and its boot, so that no pid of an earlier one is trusted."""
    try:
        boot = _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        boot = str(uuid.getnode())
    return f"{os.uname().nodename}/{boot[:8]}"
