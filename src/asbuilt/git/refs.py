"""Refs, and the commits that they keep: find them, show their changes, and restore one as a branch.

Only `restore` writes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final, NamedTuple

from asbuilt.errors import NameTaken
from asbuilt.git.command import check_branch, check_oid
from asbuilt.git.commits import read_commit
from asbuilt.git.locks import set_ref
from asbuilt.git.objects import compare
from asbuilt.git.ref_files import LeftToGit, read_refs
from asbuilt.git.repository import Repository

_BRANCH: Final = "refs/heads/"
# Programs that a repository's settings name must not affect what is shown.
PLAIN: Final = ("-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


class Change(NamedTuple):
    """One file that differs, with its line counts; None for a binary file."""

    path: str
    added: int | None
    removed: int | None


def listed(repository: Repository, pattern: str) -> list[tuple[str, str]]:
    """List the refs that match a pattern or are below a folder, each with its commit."""
    start = pattern.removesuffix("*")
    if pattern.endswith(("/", "*")) and not set("*?[") & set(start):
        with suppress(LeftToGit):
            found = read_refs(repository.common, start, repository.ref_format).items()
            return (
                [*found] if start == pattern else [pair for pair in found if "/" not in pair[0][len(start) :]]
            )
    result = repository.git.run("for-each-ref", "--format=%(refname)%00%(objectname)", pattern)
    lines = os.fsdecode(result.out).splitlines()
    return [(ref, commit) for ref, _, commit in (line.partition("\0") for line in lines)]


def holding(repository: Repository, commit: str) -> str | None:
    """Return a ref whose history contains a commit: a branch if possible, else any ref of asbuilt."""
    for folder in (_BRANCH, "refs/asbuilt/"):
        found = repository.git.line(
            "for-each-ref", "--count=1", "--format=%(refname)", f"--contains={check_oid(commit)}", folder
        )
        if found:
            return found.removeprefix(_BRANCH)
    return None


def base_of(repository: Repository, commit: str) -> str:
    """Return the commit that a kept commit was built on."""
    return read_commit(repository, commit).parents[0]


def changes(repository: Repository, commit: str) -> list[Change]:
    """List the files of a kept commit that differ from its base."""
    result = repository.git.run(
        "diff-tree", *PLAIN, "-z", "--numstat", base_of(repository, commit), check_oid(commit)
    )
    rows = (field.split(b"\t", 2) for field in result.fields)
    return [Change(os.fsdecode(path), _count(added), _count(removed)) for added, removed, path in rows]


def touched(repository: Repository, before: str, after: str) -> dict[str, bool]:
    """Return the files that differ between two trees or commits, and whether each exists afterwards."""
    found = compare(repository.git, before, after)
    return {os.fsdecode(change.path): change.new is not None for change in found}


def patch(repository: Repository, commit: str) -> bytes:
    """Return the diff of a kept commit against its base."""
    return repository.git.run(
        "diff-tree", *PLAIN, "--patch", base_of(repository, commit), check_oid(commit)
    ).out


def restore(repository: Repository, commit: str, branch: str) -> str:
    """Create a branch at a commit and return its full name; raise `NameTaken` if the branch exists."""
    ref = check_branch(branch)
    if not set_ref(repository, ref, new=check_oid(commit), old=None, why="asbuilt: an attempt restored"):
        raise NameTaken(
            f"a branch {branch} exists already",
            why="Moving an existing branch could lose its commits.",
            next_step="`git branch --list` shows the names that are taken.",
        )
    return ref


def _count(text: bytes) -> int | None:
    return None if text == b"-" else int(text)
