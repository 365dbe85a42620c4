"""Look refs up by what they are called and by what they hold. It only reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from asbuilt.git.command import check_oid

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository

_BRANCH: Final = "refs/heads/"


def listed(repository: Repository, pattern: str) -> list[tuple[str, str]]:
    """List the refs below a folder or of a pattern, each with its commit."""
    said = repository.git.said("for-each-ref", "--format=%(refname)%00%(objectname)", pattern)
    lines = os.fsdecode(said.out).splitlines()
    return [(ref, commit) for ref, _, commit in (line.partition("\0") for line in lines)]


def holding(repository: Repository, commit: str) -> str | None:
    """Name a ref whose history has a commit: a branch if one does, else any ref of ours."""
    for folder in (_BRANCH, "refs/asbuilt/"):
        found = repository.git.line(
            "for-each-ref", "--count=1", "--format=%(refname)", f"--contains={check_oid(commit)}", folder
        )
        if found:
            return found.removeprefix(_BRANCH)
    return None
