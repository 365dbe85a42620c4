"""Check before a landing whether it would overwrite anything of the user. Rule: the checkout is only read.

Git refuses to overwrite dirty and untracked files, but treats ignored files (such as `.env`) as expendable.
Here no file is: a path that the landing adds must not exist in the checkout, and its parents must be folders.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.git.files import listed
from asbuilt.git.objects import compare

if TYPE_CHECKING:
    from asbuilt.git.repository import Checkout, Repository


class Paths(Struct, frozen=True, kw_only=True):
    """Paths that differ between two commits."""

    added: frozenset[bytes]
    changed: frozenset[bytes]
    gone: frozenset[bytes]

    @property
    def present(self) -> frozenset[bytes]:
        """Paths that the old commit has."""
        return self.changed | self.gone


def between(repository: Repository, old: str, new: str) -> Paths:
    """Return the paths that differ between two commits."""
    found = compare(repository.git, old, new)
    return Paths(
        added=frozenset(file.path for file in found if file.old is None),
        changed=frozenset(file.path for file in found if file.old is not None and file.new is not None),
        gone=frozenset(file.path for file in found if file.new is None),
    )


def in_the_way(checkout: Checkout, paths: Paths) -> tuple[str, ...]:
    """List what exists in a checkout where the landing would add a file, ignored files included."""
    found: set[bytes] = set()
    for path in paths.added:
        found |= _blocking(checkout.path, path, paths.gone)
    return tuple(sorted(os.fsdecode(path) for path in found))


def overlapping(checkout: Checkout, paths: Paths, old: str) -> tuple[str, ...]:
    """List the paths that both the landing and the user have changed, staged or not."""
    with tempfile.TemporaryDirectory(prefix="asbuilt-git-") as made:
        # Refresh a copy of the index; the user's own stays the same to the byte.
        copy = Path(made, "index")
        if not (checkout.git_dir / "index").is_file():
            return ()
        shutil.copy2(checkout.git_dir / "index", copy)
        git = replace(checkout.git, index=copy)
        git.run("update-index", "-q", "--refresh", allowed=(0, 1))
        dirty = set(git.run("diff-files", "-z", "--name-only", "--ignore-submodules=all").fields)
        dirty |= set(git.run("diff-index", "--cached", "-z", "--name-only", "--no-renames", old, "--").fields)
    return tuple(sorted(os.fsdecode(path) for path in dirty & (paths.present | paths.added)))


def filtered(checkout: Checkout, paths: Paths, drivers: frozenset[str]) -> tuple[str, ...]:
    """Return those of the given filters that git would apply to files of the landing."""
    if not drivers:
        return ()
    given = b"".join(path + b"\0" for path in sorted(paths.changed | paths.added))
    fields = checkout.git.run("check-attr", "-z", "--stdin", "filter", stdin=given).fields
    found = {os.fsdecode(value) for value in fields[2::3]} & drivers
    return tuple(f"filter.{name}" for name in sorted(found))


def lines_at_stake(checkout: Checkout, path: str, old: str) -> int:
    """Count the user's lines that a landing over a path would lose."""
    git = checkout.git.with_environment(GIT_LITERAL_PATHSPECS="1")
    result = git.run(
        "diff", "--no-ext-diff", "--no-textconv", "--numstat", "-z", "--no-renames", old, "--", path
    )
    counts = [field.split(b"\t", 1)[0] for field in result.fields if b"\t" in field]
    return sum(int(count) for count in counts if count.isdigit())


def _blocking(root: Path, path: bytes, gone: frozenset[bytes]) -> set[bytes]:
    parts = path.split(b"/")
    for length in range(1, len(parts)):
        parent = b"/".join(parts[:length])
        mode = _mode(root, parent)
        if mode is None or (parent in gone and not stat.S_ISDIR(mode)):
            return set()
        if not stat.S_ISDIR(mode):
            return {parent}
    mode = _mode(root, path)
    if mode is None:
        return set()
    if not stat.S_ISDIR(mode):
        return {path}
    return {found for found in _inside(root, path) if found not in gone}


def _inside(root: Path, folder: bytes) -> Iterator[bytes]:
    for path, status in listed(root, folder):
        if stat.S_ISDIR(status.st_mode):
            yield from _inside(root, path)
        else:
            yield path


def _mode(root: Path, path: bytes) -> int | None:
    try:
        return (root / os.fsdecode(path)).lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
