"""Write a tree's files into a folder. Rule: afterwards its contents equal the tree's.

A clean checkout has no `.git`: a check that calls git finds no repository, and there is no link that an agent
could have redirected. Files that are already right are left alone, which makes reuse of a folder fast. This
is decided by content, because the code that runs in the folder can set file times.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from asbuilt.errors import GitFailed
from asbuilt.git.command import Git, check_oid
from asbuilt.git.files import LINK_TO_REPOSITORY, entries, listed, matching, survey
from asbuilt.git.locks import guarded
from asbuilt.git.temporary_git_folder import quiet

if TYPE_CHECKING:
    _Tree = Mapping[bytes, tuple[bytes, str]]

    from asbuilt.git.repository import Repository


def clean_checkout(repository: Repository, tree: str, at: Path, *, index: Path | None = None) -> None:
    """Make `at` contain exactly the files of a tree.

    With an `index`, files whose times have not changed since are not read again. Use it only for a folder in
    which no other process writes.
    """
    if at.is_symlink() or (at.exists() and not at.is_dir()):
        raise GitFailed(
            f"{at} is in the way of a checkout",
            why="It is not a folder.",
            next_step=f"`mv {quote(str(at))} {quote(f'{at}.old')} &&` `asbuilt run`",
        )
    at.mkdir(parents=True, exist_ok=True)
    with guarded(at) as held, quiet(repository, work_tree=at, index=index, held=(held,)) as git:
        wanted = entries(repository.git, check_oid(tree))
        for path in _strange(at, wanted):
            delete(_place(at, path))
        if index is None:
            # After the deletions above, no parent of a file is a link.
            there = [path for path in wanted if os.path.lexists(_place(at, path))]
            _write(repository, git, at, tree, wanted, there)
        else:
            git.run("read-tree", "--reset", "-u", tree)
        _make_modules(at, wanted)


def strange_in(repository: Repository, tree: str, at: Path) -> tuple[Path, ...]:
    """List paths in a folder that the tree does not have; an extra folder is listed by its own path."""
    wanted = entries(repository.git, check_oid(tree))
    return tuple(Path(os.fsdecode(path)) for path in _strange(at, wanted))


def delete(place: Path) -> None:
    """Delete a file or a folder recursively, also one whose permissions were removed."""
    if not place.is_dir() or place.is_symlink():
        place.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(place)
    except PermissionError:
        place.chmod(stat.S_IRWXU)
        for path, folders, _ in os.walk(place):
            for folder in (Path(path, name) for name in folders):
                # Links are skipped: their targets are not ours.
                if not folder.is_symlink():
                    folder.chmod(stat.S_IRWXU)
        shutil.rmtree(place)


def fill(repository: Repository, folder: Path, commit: str, *, index: Path, held: int) -> None:
    """Set a workspace's files and index to a commit; ignored files stay, other extra files are deleted."""
    with quiet(repository, work_tree=folder, index=index, held=(held,)) as git:
        # An index that an agent wrote may have flags that hide changes.
        index.unlink(missing_ok=True)
        wanted = entries(repository.git, check_oid(commit))
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
        if not _write(repository, git, folder, commit, wanted, seen.files):
            if not index.is_file():
                git.run("read-tree", "--reset", commit)
            git.run("update-index", "-q", "--refresh", allowed=(0, 1))
        _make_modules(folder, wanted)


def _write(
    repository: Repository, git: Git, at: Path, tree: str, wanted: _Tree, there: Collection[bytes]
) -> bool:
    """Write the files that differ by content from those that are there; return whether all were written."""
    same = matching(at, wanted, there, file_mode=repository.file_mode)
    if not same:
        # One git writes all files and the index; `--reset` makes way for them.
        git.run("read-tree", "--reset", "-u", tree)
        return True
    differs = [path for path, (mode, _) in wanted.items() if path not in same and mode != LINK_TO_REPOSITORY]
    if differs:
        given = b"".join(path + b"\0" for path in differs)
        git.run("read-tree", "--reset", tree)
        # With `--force`, a link or file gives way to a folder, and a folder to a file.
        git.run("checkout-index", "--force", "--quiet", "--index", "-z", "--stdin", stdin=given)
    return False


def _make_modules(at: Path, wanted: _Tree) -> None:
    for path, (mode, _) in wanted.items():
        if mode == LINK_TO_REPOSITORY:
            _place(at, path).mkdir(parents=True, exist_ok=True)


def _strange(root: Path, wanted: Mapping[bytes, object]) -> Iterator[bytes]:
    """Yield paths that the tree does not have; an extra folder by its own path."""
    folders = _folders(wanted)
    level = [b""]
    while level:
        deeper = []
        for path, status in (found for folder in level for found in listed(root, folder)):
            is_folder = stat.S_ISDIR(status.st_mode)
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
