"""A git folder for a check, beside its files: history and tags to read, nothing to change.

Build backends call git for a version (`git describe`), tests for the list of files. Rule: HEAD has exactly
the checkout's tree, so that git reports a clean work tree, and no object is written to the user's repository.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from asbuilt.git.command import Git, check_oid
from asbuilt.git.private import settings_of

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.git.repository import Repository

_BRANCH: Final = "refs/heads/main"
_NOBODY: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "asbuilt"), ("EMAIL", "asbuilt@localhost"), ("DATE", "@0 +0000"))
}


def lend(repository: Repository, folder: Path, *, tree: str, history: str, objects_at: str) -> None:
    """Create or update the git folder of a checkout of `tree`; `history` is the commit that it builds on.

    `objects_at` is the path at which processes in the checkout see the repository's objects.
    """
    for name in ("objects/info", "refs/heads"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "config").write_text(settings_of(repository, bare=False), encoding="ascii")
    (folder / "objects" / "info" / "alternates").write_text(f"{objects_at}\n", encoding="utf-8")
    (folder / "HEAD").write_text(f"ref: {_BRANCH}\n", encoding="ascii")
    shallow = repository.common / "shallow"
    (folder / "shallow").unlink(missing_ok=True)
    if shallow.is_file():
        (folder / "shallow").write_bytes(shallow.read_bytes())
    place = Git(git_dir=folder, index=folder / "index", objects=folder / "objects").with_environment(
        GIT_ALTERNATE_OBJECT_DIRECTORIES=str(repository.common / "objects"), **_NOBODY
    )
    tags = repository.git.said("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags").out
    (folder / "packed-refs").write_bytes(tags)
    commit = history
    if not history or repository.git.line("rev-parse", f"{check_oid(history)}^{{tree}}") != tree:
        parents = ["-p", history] if history else []
        commit = place.line("commit-tree", check_oid(tree), *parents, "-m", "The tree under check")
    (folder / _BRANCH).write_text(f"{commit}\n", encoding="ascii")
    place.said("read-tree", "--reset", tree)


def alternates_of(repository: Repository) -> tuple[Path, ...]:
    """List further object folders that the repository uses (alternates)."""
    file = repository.common / "objects" / "info" / "alternates"
    lines = os.fsdecode(file.read_bytes()).splitlines() if file.is_file() else []
    objects = repository.common / "objects"
    return tuple(path for line in lines if line and (path := (objects / line)).is_dir())
