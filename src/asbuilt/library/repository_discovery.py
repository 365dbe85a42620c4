"""Find the repository around a folder by reading its files. Starts no git, runs no code of the repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_IDENTITY: Final = ("asbuilt", "repository")
_HEADS: Final = "refs/heads/"


class Repository(NamedTuple):
    """A checkout and the git folder that all checkouts of the same repository share."""

    root: Path
    common: Path
    """The shared git folder: identifies the repository until there is a journal."""

    @property
    def name(self) -> str:
        """Name of the main checkout's folder, also from a linked worktree."""
        return self.common.parent.name if self.common.name == ".git" else self.root.name


def real(path: Path) -> Path:
    """Follow all symlinks and `..`; unlike Path.resolve, also returns a path for a symlink loop."""
    return Path(os.path.realpath(path))


def find_repository(start: Path) -> Repository | None:
    """Return the nearest checkout at or above `start`, or None."""
    here = real(start)
    for folder in (here, *here.parents):
        marker = folder / ".git"
        # Git, too, skips a `.git` folder that is not its own.
        if marker.is_dir() and os.path.lexists(marker / "HEAD"):
            return Repository(root=folder, common=real(marker))
        if marker.is_file():
            own = _git_folder_of_link(marker)
            shared = _first_line(own / "commondir")
            common = real(own / shared) if shared and "\0" not in shared else own
            return Repository(root=folder, common=common)
    return None


def branch_of(repository: Repository) -> str | None:
    """Return the branch checked out at the root; None when it is detached or unknown."""
    head = _first_line(_own_folder(repository) / "HEAD")
    prefix = f"ref: {_HEADS}"
    branch = head.removeprefix(prefix) if head.startswith(prefix) else ""
    # Git writes `.invalid` when the branch is in a reftable.
    return None if branch in ("", ".invalid") else branch


def is_detached(repository: Repository) -> bool:
    """Return whether a commit is checked out, and no branch."""
    head = _first_line(_own_folder(repository) / "HEAD")
    return bool(head) and not head.startswith("ref: ")


def branches_of(repository: Repository) -> list[str]:
    """Return the names of the branches, without those that asbuilt keeps; empty in a reftable."""
    heads = repository.common / "refs" / "heads"
    loose = [file.relative_to(heads).as_posix() for file in heads.rglob("*") if file.is_file()]
    packed = (line.partition(" ")[2] for line in _lines(repository.common / "packed-refs"))
    names = {*loose, *(ref.removeprefix(_HEADS) for ref in packed if ref.startswith(_HEADS))}
    return sorted(name for name in names if not name.startswith("asbuilt/"))


def merging(repository: Repository) -> str:
    """Return the commit that the user is merging at the root; empty if no merge is in progress."""
    return _first_line(_own_folder(repository) / "MERGE_HEAD")


def _own_folder(repository: Repository) -> Path:
    """Return the git folder of the checkout itself."""
    marker = repository.root / ".git"
    return marker if marker.is_dir() else _git_folder_of_link(marker)


def tip_of(repository: Repository, branch: str) -> str | None:
    """Return the commit of a branch, empty if there is none; None in a reftable, which only git reads."""
    if (repository.common / "reftable").is_dir():
        return None
    name = f"{_HEADS}{branch}"
    packed = (line.partition(" ") for line in _lines(repository.common / "packed-refs"))
    return _first_line(repository.common / name) or next((oid for oid, _, ref in packed if ref == name), "")


def is_bare(folder: Path) -> bool:
    """Return whether a folder is a repository without a checkout."""
    return (folder / "HEAD").is_file() and all((folder / name).is_dir() for name in ("objects", "refs"))


def is_unborn(repository: Repository) -> bool:
    """Return whether the branch that is checked out has no commit yet."""
    ref = f"refs/heads/{branch_of(repository)}"
    is_packed = any(line.endswith(f" {ref}") for line in _lines(repository.common / "packed-refs"))
    return branch_of(repository) is not None and not (is_packed or (repository.common / ref).is_file())


def identity_of(repository: Repository) -> str | None:
    """Read the ID that asbuilt gave a repository from its git config; None when it has none yet."""
    found = [value for section, name, value in _settings(repository.common) if (section, name) == _IDENTITY]
    return (found[0] or None) if found else None


def remote_of(common: Path) -> str | None:
    """Read the URL of `origin`, or of the only remote, from the git config of a shared git folder."""
    urls: dict[str, str] = {}
    for section, name, value in _settings(common):
        kind, _, remote = section.partition(" ")
        if (kind, name) == ("remote", "url"):
            urls.setdefault(remote.strip().strip('"'), value)
    return urls.get("origin") or (next(iter(urls.values())) if len(urls) == 1 else None)


def _settings(common: Path) -> Iterator[tuple[str, str, str]]:
    """Read git's own settings of a repository: (section, name, value)."""
    section = ""
    for line in _lines(common / "config"):
        if line.startswith("["):
            section, _, line = line[1:].partition("]")  # noqa: PLW2901 - a key may stand behind its section
            kind, _, own = section.strip().partition(" ")
            section = f"{kind.casefold()} {own}".strip()
        name, is_set, value = line.partition("=")
        if is_set:
            plain = value.partition("#")[0].partition(";")[0].strip().strip('"')
            yield section, name.strip().casefold(), plain


def _git_folder_of_link(marker: Path) -> Path:
    line = _first_line(marker)
    target = line.removeprefix("gitdir:").strip()
    if not line.startswith("gitdir:") or not target or "\0" in target:
        return marker  # not git's format: the file itself identifies an unshared repository
    return real(marker.parent / target)


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
