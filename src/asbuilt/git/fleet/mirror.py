"""Mirrors of remotes: bare repositories in the worker's state folder, from which workspaces are made.

Rule: a mirror holds nothing that its remote does not have, except work of a move that was cut off. So a
mirror without workspaces can be deleted.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from asbuilt.git.command import Git
from asbuilt.git.locks import guarded
from asbuilt.git.repository import Repository, open_repository

_USED: Final = "asbuilt-used"


def open_mirror(root: Path, name: str, url: str) -> Repository:
    """Open the mirror of a remote; make an empty one if there is none."""
    folder = root / f"{name}.git"
    if not folder.is_dir():
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with guarded(root):
            if not folder.is_dir():
                _make(root, folder, url)
    (folder / _USED).touch()
    return open_repository(folder)


def evict(root: Path, *, budget: int) -> list[str]:
    """Delete the mirrors that were used least recently until all fit the budget in bytes; return their names.

    A mirror that has workspaces stays.
    """
    if not root.is_dir():
        return []
    gone = []
    with guarded(root):
        found = sorted(root.glob("*.git"), key=_used_at)
        sizes = {folder: _size(folder) for folder in found}
        for folder in found:
            if sum(sizes.values()) <= budget:
                break
            if any((folder / "worktrees").glob("*")):
                continue
            doomed = folder.with_name(f".{folder.name}.going")
            folder.rename(doomed)
            shutil.rmtree(doomed)
            del sizes[folder]
            gone.append(folder.name.removesuffix(".git"))
    return gone


def _make(root: Path, folder: Path, url: str) -> None:
    """Make a mirror under another name and rename it, so that a kill leaves no half mirror."""
    with tempfile.TemporaryDirectory(dir=root, prefix=".new-", ignore_cleanup_errors=True) as scratch:
        fresh = Path(scratch) / "mirror"
        fresh.mkdir(mode=0o700)
        git = Git(git_dir=fresh)
        git.said("init", "--quiet", "--bare", "--template=", "--initial-branch=none")
        git.said("config", "--local", "remote.origin.url", url)
        fresh.rename(folder)


def _used_at(folder: Path) -> float:
    try:
        return (folder / _USED).stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _size(folder: Path) -> int:
    return sum(
        os.lstat(os.path.join(at, file)).st_size  # noqa: PTH118 - thousands of files
        for at, _, files in os.walk(folder)
        for file in files
    )
