"""Put a tree's files into a folder. The one rule: it ends as the tree is, by content, whoever was in it.

A clean checkout has no `.git` at all: a check that asks git finds none, and there is no link that an agent
could have turned. What is right already is left alone, which makes the next use of a folder quick; whether it
is right is read from the bytes, because times can be set by the code that runs there.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.errors import GitFailed
from asbuilt.git.command import check_oid
from asbuilt.git.files import LINK_TO_REPOSITORY, entries, listed, survey
from asbuilt.git.locks import guarded
from asbuilt.git.private import quiet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from asbuilt.git.command import Git
    from asbuilt.git.repository import Repository


def clean_checkout(
    repository: Repository,
    tree: str,
    at: Path,
    *,
    spare: Collection[str] = (),
    index: Path | None = None,
) -> None:
    """Make `at` hold exactly the files of a tree, except folders named in `spare`, which setup made.

    With an `index` of its own, files that have not changed since by their times are not read again: only for
    a folder in which nobody else writes.
    """
    if at.is_symlink() or (at.exists() and not at.is_dir()):
        raise GitFailed(
            f"{at} is in the way of a checkout",
            why="It is not a folder.",
            next_step="Move it elsewhere, then resume.",
        )
    at.mkdir(parents=True, exist_ok=True)
    with guarded(at) as held, quiet(repository, work_tree=at, index=index, held=(held,)) as git:
        wanted = entries(git, check_oid(tree))
        _clear(at, wanted, {os.fsencode(name).strip(b"/") for name in spare})
        _write(git, tree, wanted)


def strange_in(repository: Repository, tree: str, at: Path) -> tuple[Path, ...]:
    """Name what a folder has and a tree has not, below the folder; a whole folder by its own name."""
    wanted = entries(repository.git, check_oid(tree))
    return tuple(Path(os.fsdecode(path)) for path in _strange(at, wanted, ()))


def delete(place: Path) -> None:
    """Delete a file or a folder with all that is in it, also one whose code took the rights away."""
    if not place.is_dir() or place.is_symlink():
        place.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(place)
    except PermissionError:
        place.chmod(stat.S_IRWXU)
        for path, folders, _ in os.walk(place):
            for folder in (Path(path, name) for name in folders):
                # A link is left as it is: what it leads to is not ours.
                if not folder.is_symlink():
                    folder.chmod(stat.S_IRWXU)
        shutil.rmtree(place)


def fill(repository: Repository, folder: Path, commit: str, *, index: Path, held: int) -> None:
    """Put a workspace at a commit, its index with it; ignored files stay, other strange ones go."""
    with quiet(repository, work_tree=folder, index=index, held=(held,)) as git:
        wanted = entries(git, check_oid(commit))
        seen = survey(git, wanted)
        for path in seen.files:
            if path not in wanted:
                _place(folder, path).unlink()
        needed = _folders(wanted)
        for path in reversed(seen.folders):
            place = _place(folder, path)
            delete(place / ".git")
            if path not in needed and not any(place.iterdir()):
                place.rmdir()
        _write(git, commit, wanted)


def _write(git: Git, tree: str, wanted: Mapping[bytes, tuple[bytes, str]]) -> None:
    git.said("read-tree", "--reset", tree)
    git.said("update-index", "-q", "--refresh", allowed=(0, 1))
    differs = git.said("diff-files", "-z", "--name-only", "--ignore-submodules=all").fields
    if differs:
        given = b"".join(path + b"\0" for path in differs)
        # With force, a link or file in the place of a folder gives way, and so does a folder for a file.
        git.said("checkout-index", "--force", "--quiet", "--index", "-z", "--stdin", stdin=given)
    for path, (mode, _) in wanted.items():
        if mode == LINK_TO_REPOSITORY and git.work_tree is not None:
            (git.work_tree / os.fsdecode(path)).mkdir(parents=True, exist_ok=True)


def _clear(root: Path, wanted: Mapping[bytes, object], spare: Collection[bytes]) -> None:
    """Delete what the tree does not have; folders that are spared are not even looked into."""
    for path in _strange(root, wanted, spare):
        delete(_place(root, path))


def _strange(root: Path, wanted: Mapping[bytes, object], spare: Collection[bytes]) -> Iterator[bytes]:
    """Name what the tree does not have, a whole folder by its own name."""
    folders = _folders(wanted) | _folders(dict.fromkeys(spare))
    level = [b""]
    while level:
        deeper = []
        for path, status in (found for folder in level for found in listed(root, folder)):
            is_folder = stat.S_ISDIR(status.st_mode)
            if path in spare:
                continue
            if is_folder and path in folders:
                deeper.append(path)
            elif is_folder or path not in wanted:
                yield path
        level = deeper


def _folders(paths: Mapping[bytes, object]) -> set[bytes]:
    found: set[bytes] = set()
    for path in paths:
        folder = path.rpartition(b"/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition(b"/")[0]
    return found


def _place(root: Path, path: bytes) -> Path:
    return root / os.fsdecode(path)
