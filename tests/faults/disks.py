"""A small disk of our own, full or not as one says. The one rule: nobody outside this process sees it."""

from __future__ import annotations

import ctypes
import os
import subprocess
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_NEW_MOUNTS = 0x20000  # CLONE_NEWNS, which Python 3.11 has no name for
_LARGE = "64m"


class Disk(NamedTuple):
    """A file system in memory, mounted on a folder."""

    path: Path

    def fill(self, *, left: int = 0) -> None:
        """Let it have no more room than so many bytes; whoever writes meanwhile makes us look again."""
        for _ in range(100):
            room = os.statvfs(self.path)
            used = (room.f_blocks - room.f_bfree) * room.f_frsize
            if _is_mounted("-o", f"remount,size={used + left}", str(self.path)):
                return
        raise TimeoutError(self.path)

    def heal(self) -> None:
        """Give it room again."""
        _mount("-o", f"remount,size={_LARGE}", str(self.path))

    def close(self) -> None:
        """Take it away, whoever is still at work on it."""
        subprocess.run(["umount", "--lazy", self.path], check=True)  # noqa: S607


def disk_at(path: Path) -> Disk:
    """Mount a small disk on a new folder."""
    _alone()
    path.mkdir(mode=0o700)
    _mount("-t", "tmpfs", "-o", f"size={_LARGE},mode=700", "tmpfs", str(path))
    return Disk(path)


@cache
def _alone() -> None:
    """Give this process mounts of its own: they go with it, however it ends."""
    if os.geteuid() != 0:
        pytest.skip("NOT RUN: only root may mount a small disk")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_MOUNTS):
        pytest.skip(f"NOT RUN: no mounts of our own here: {os.strerror(ctypes.get_errno())}")
    _mount("--make-rprivate", "/")


def _mount(*arguments: str) -> None:
    assert _is_mounted(*arguments), arguments


def _is_mounted(*arguments: str) -> bool:
    done = subprocess.run(["mount", *arguments], check=False, capture_output=True)  # noqa: S607
    return done.returncode == 0
