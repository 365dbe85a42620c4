"""Find the repository around a folder by reading its files. Starts no git, runs no code of the repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Repository(NamedTuple):
    """A checkout and the folder that all checkouts of the same repository share."""

    root: Path
    common: Path
    """The shared git folder: its path stands for the repository's identity until there is a journal."""

    @property
    def name(self) -> str:
        """What people call it: the main checkout's folder, also when asked from a linked worktree."""
        return self.common.parent.name if self.common.name == ".git" else self.root.name


def real(path: Path) -> Path:
    """Follow every link and `..`; unlike Path.resolve it has an answer for links in a circle too."""
    return Path(os.path.realpath(path))


def find_repository(start: Path) -> Repository | None:
    """Walk up from `start` to the nearest checkout, or say that there is none."""
    here = real(start)
    for folder in (here, *here.parents):
        marker = folder / ".git"
        # Git passes over a folder of that name that is none of its own.
        if marker.is_dir() and os.path.lexists(marker / "HEAD"):
            return Repository(root=folder, common=real(marker))
        if marker.is_file():
            return Repository(root=folder, common=_common_of_link(marker))
    return None


def branch_of(repository: Repository) -> str | None:
    """Name the branch that is checked out at the root, or None when it is detached or cannot be told."""
    marker = repository.root / ".git"
    head = _first_line((marker if marker.is_dir() else _git_folder_of_link(marker)) / "HEAD")
    prefix = "ref: refs/heads/"
    branch = head.removeprefix(prefix) if head.startswith(prefix) else ""
    # Git puts this name there when the branch stands elsewhere, in a reference table.
    return None if branch in ("", ".invalid") else branch


def identity_of(repository: Repository) -> str | None:
    """Read the id that asbuilt gave a repository, as git wrote it into its config; None: it has none yet."""
    section = ""
    for line in _lines(repository.common / "config"):
        if line.startswith("["):
            section, _, line = line[1:].partition("]")  # noqa: PLW2901 - a key may stand behind its section
        name, is_set, value = line.partition("=")
        if is_set and (section.strip().casefold(), name.strip().casefold()) == ("asbuilt", "repository"):
            return value.partition("#")[0].partition(";")[0].strip().strip('"') or None
    return None


def _git_folder_of_link(marker: Path) -> Path:
    line = _first_line(marker)
    target = line.removeprefix("gitdir:").strip()
    if not line.startswith("gitdir:") or not target or "\0" in target:
        return marker  # not what git writes: the file itself stands for a repository that nobody shares
    return real(marker.parent / target)


def _common_of_link(marker: Path) -> Path:
    own = _git_folder_of_link(marker)
    shared = _first_line(own / "commondir")
    return real(own / shared) if shared and "\0" not in shared else own


def _lines(file: Path) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines()]


def _first_line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="surrogateescape") as lines:
            return lines.readline(4096).strip()
    except OSError:
        return ""
