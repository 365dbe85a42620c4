"""Commit some files of the user's checkout, and none of its other changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from asbuilt.git.commits import message_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.git.repository import Repository


def commit_files(
    repository: Repository, paths: Sequence[str], *, subject: str
) -> tuple[str, tuple[str, ...]]:
    """Commit files as they are on disk; return (commit, files in it), or ("", ()) if nothing differs.

    Other changes stay as they are, staged ones too. Ignored files are left out. No hook runs. The author is
    the user, and the user's settings decide whether the commit is signed.
    """
    git = replace(repository.git, git_dir=repository.git_dir, work_tree=repository.root, as_user=True)
    named = b"".join(path.encode() + b"\0" for path in paths)
    ignored = git.said("check-ignore", "-z", "--stdin", stdin=named, allowed=(0, 1)).fields
    wanted = [path for path in paths if path.encode() not in ignored]
    if not wanted:
        return "", ()
    changed = git.said("status", "--porcelain=v1", "-z", "--no-renames", "-uall", "--", *wanted).fields
    differing = tuple(path for path in wanted if any(field[3:] == path.encode() for field in changed))
    if not differing:
        return "", ()
    git.said("add", "--", *differing)
    message = message_for(subject)
    git.said("commit", "-q", "--no-verify", "--only", "-F", "-", "--", *differing, stdin=message)
    return git.line("rev-parse", "HEAD"), differing
