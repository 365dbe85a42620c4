"""Find refs by name and by the commits they contain. Read-only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from asbuilt.git.command import check_oid

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository

_BRANCH: Final = "refs/heads/"


def listed(repository: Repository, pattern: str) -> list[tuple[str, str]]:
    """List the refs that match a pattern or are below a folder, each with its commit."""
    said = repository.git.said("for-each-ref", "--format=%(refname)%00%(objectname)", pattern)
    lines = os.fsdecode(said.out).splitlines()
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
