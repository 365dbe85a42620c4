"""Changes of a kept commit against its base, and a branch that restores it. Only `restore` writes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.errors import NameTaken
from asbuilt.git.command import check_branch, check_oid
from asbuilt.git.locks import set_ref

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository

# Programs that a repository's settings name must not affect what is shown.
_PLAIN: Final = ("-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


class Change(NamedTuple):
    """One file that differs, with its line counts; None for a binary file."""

    path: str
    added: int | None
    removed: int | None


def base_of(repository: Repository, commit: str) -> str:
    """Return the commit that a kept commit was built on."""
    return repository.git.line("rev-parse", "--verify", f"{check_oid(commit)}^1")


def changes(repository: Repository, commit: str) -> list[Change]:
    """List the files of a kept commit that differ from its base."""
    said = repository.git.said(
        "diff-tree", *_PLAIN, "-z", "--numstat", base_of(repository, commit), check_oid(commit)
    )
    found = []
    for one in said.fields:
        added, removed, path = one.split(b"\t", 2)
        found.append(Change(os.fsdecode(path), _count(added), _count(removed)))
    return found


def touched(repository: Repository, before: str, after: str) -> dict[str, bool]:
    """Return the files that differ between two trees or commits, and whether each exists afterwards."""
    fields = repository.git.said(
        "diff-tree", *_PLAIN, "-z", "--name-status", check_oid(before), check_oid(after)
    ).fields
    return {os.fsdecode(path): status != b"D" for status, path in zip(fields[::2], fields[1::2], strict=True)}


def patch(repository: Repository, commit: str) -> bytes:
    """Return the diff of a kept commit against its base."""
    return repository.git.said(
        "diff-tree", *_PLAIN, "--patch", base_of(repository, commit), check_oid(commit)
    ).out


def restore(repository: Repository, commit: str, branch: str) -> str:
    """Create a branch at a commit and return its full name; raise `NameTaken` if the branch exists."""
    ref = check_branch(branch)
    if not set_ref(repository, ref, new=check_oid(commit), old=None, why="asbuilt: an attempt restored"):
        raise NameTaken(
            f"there is a branch {branch} already",
            why="A branch that was moved could let go of somebody's commits.",
            next_step="Name another; `git branch --list` shows which are there.",
        )
    return ref


def _count(text: bytes) -> int | None:
    return None if text == b"-" else int(text)
