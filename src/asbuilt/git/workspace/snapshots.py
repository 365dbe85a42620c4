"""Keep an attempt's files. Rule: its tree is under a ref before anything else touches the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from asbuilt.errors import GitFailed, TreeTooLarge
from asbuilt.git.command import MEGABYTE, Git, check_oid, check_ref_name
from asbuilt.git.commits import ASBUILT, commit_tree
from asbuilt.git.files import Survey, entries, matching, survey
from asbuilt.git.locks import drop_ref, set_ref
from asbuilt.git.objects import tree_of
from asbuilt.git.repository import Repository, tip
from asbuilt.git.temporary_git_folder import quiet
from asbuilt.ports import Kept, Workspace

FILE_CAP: Final = 50 * MEGABYTE
TREE_CAP: Final = 500 * MEGABYTE
ATTEMPTS: Final = "refs/asbuilt/attempts/"
RESULTS: Final = "refs/asbuilt/results/"
"""Results of agents, which workers of a fleet share."""


def keep(repository: Repository, workspace: Workspace, attempt: str, *, parent: str, at: datetime) -> Kept:
    """Store tracked and untracked files of a workspace as a commit under the attempt's ref.

    With unchanged files a second call leaves the ref as it is. Files that changed in between make a new
    commit with the earlier one as a parent, so that nothing that was kept is lost.
    """
    ref = check_ref_name(ATTEMPTS + attempt)
    before = tip(repository, ref)
    if not workspace.path.is_dir():
        return _as_kept(repository, ref, before, workspace)
    tree, ignored = write_tree_of(repository, workspace.path, base=check_oid(parent))
    if before is not None and tree_of(repository.git, before) == tree:
        return Kept(commit=before, tree=tree, ref=ref, ignored=ignored)
    commit = commit_tree(
        repository,
        tree,
        parents=(parent,) if before is None else (parent, before),
        author=replace(ASBUILT, at=at),
        message=f"Attempt {attempt}\n".encode("utf-8", "surrogateescape"),
    )
    if not set_ref(repository, ref, new=commit, old=before):
        # Another process kept this attempt meanwhile; its commit stays, and ours goes on top of it.
        return keep(repository, workspace, attempt, parent=parent, at=at)
    return Kept(commit=commit, tree=tree, ref=ref, ignored=ignored)


def with_path_of(repository: Repository, tree: str, base: str, path: str) -> str:
    """Return `tree` with one path as it is in `base`, or without it if `base` has no such file."""
    name = os.fsencode(path)
    wanted = entries(repository.git, check_oid(base)).get(name)
    found = {
        data: entry
        for data, entry in entries(repository.git, check_oid(tree)).items()
        if data == name or data.startswith(name + b"/")
    }
    if found == ({} if wanted is None else {name: wanted}):
        return tree
    with quiet(repository) as git:
        git.run("read-tree", tree)
        lines = [b"0 " + repository.nothing.encode("ascii") + b"\t" + data for data in found]
        if wanted is not None:
            lines.append(wanted[0] + b" " + wanted[1].encode("ascii") + b"\t" + name)
        # `--replace` also removes a file that took the place of a parent folder.
        git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=_joined(lines))
        return git.line("write-tree")


def found(repository: Repository, attempt: str) -> Kept | None:
    """Return the snapshot of an attempt, or None; its ignored files are no longer known."""
    ref = check_ref_name(ATTEMPTS + attempt)
    before = tip(repository, ref)
    if before is None:
        return None
    return Kept(commit=before, tree=tree_of(repository.git, before), ref=ref, ignored=())


def kept(repository: Repository, attempt: str) -> str | None:
    """Return the commit of an attempt's snapshot, or None."""
    return tip(repository, ATTEMPTS + attempt)


def let_go(repository: Repository, attempt: str, commit: str) -> None:
    """Delete an attempt's ref if it exists; it must be at `commit`. Retention decides when."""
    ref = check_ref_name(ATTEMPTS + attempt)
    if tip(repository, ref) is not None:
        drop_ref(repository, ref, old=check_oid(commit))


def is_at(repository: Repository, folder: Path, tree: str) -> bool:
    """Return whether a folder's files, without the ignored ones, are exactly those of a tree."""
    with quiet(repository, work_tree=folder) as git:
        tracked = entries(repository.git, tree)
        changed, gone, _ = _changes(repository, git, tracked, folder)
        if gone or any(path in tracked for path in changed):
            return False
        if not changed:
            return True
        # Files of a name that git does not store, such as a link named `.gitmodules`, do not count.
        git.run("update-index", "--add", "--info-only", "-z", "--stdin", stdin=_joined(changed))
        return not git.run("ls-files", "-z").out


def write_tree_of(
    repository: Repository, folder: Path, *, base: str
) -> tuple[str, tuple[tuple[str, int], ...]]:
    """Write the tree object of a folder's files; return it and the files that are not in it."""
    with quiet(repository, work_tree=folder) as git:
        tracked = entries(repository.git, base)
        changed, gone, seen = _changes(repository, git, tracked, folder)
        _refuse_what_is_too_large(folder, seen, changed)
        tree = tree_of(repository.git, base)
        if changed or gone:
            git.run("read-tree", "--reset", tree)
            if gone:
                git.run("update-index", "--force-remove", "-z", "--stdin", stdin=_joined(gone))
            git.run("update-index", "--add", "--replace", "-z", "--stdin", stdin=_joined(changed))
            tree = git.line("write-tree")
    stored = entries(repository.git, tree)
    left_out = [(os.fsdecode(path), size) for path, size in seen.files.items() if path not in stored]
    return tree, (*left_out, *seen.ignored)


def _changes(
    repository: Repository, git: Git, tracked: Mapping[bytes, tuple[bytes, str]], folder: Path
) -> tuple[list[bytes], list[bytes], Survey]:
    """Return the files that differ from a tree by content, those that are gone, and the survey."""
    seen = survey(git, tracked)
    same = matching(folder, tracked, seen.files, file_mode=repository.file_mode)
    changed = [path for path in seen.files if path not in same]
    gone = [path for path in tracked if path not in seen.files and path not in seen.submodules]
    return changed, gone, seen


def _refuse_what_is_too_large(folder: Path, seen: Survey, changed: Iterable[bytes]) -> None:
    new = {path: seen.files[path] for path in changed}
    large = sorted((path for path, size in new.items() if size > FILE_CAP), key=lambda path: -new[path])
    total = sum(new.values())
    if not large and total <= TREE_CAP:
        return
    worst = large or sorted(new, key=lambda path: -new[path])
    named = ", ".join(f"{os.fsdecode(path)} ({new[path] // MEGABYTE} MB)" for path in worst[:5])
    more = f" and {len(worst) - 5} more" if len(worst) > 5 else ""
    raise TreeTooLarge(
        f"the attempt's files are too large to keep: {named}{more}",
        why=f"A snapshot takes {FILE_CAP // MEGABYTE} MB a file and {TREE_CAP // MEGABYTE} MB in all; "
        f"new and changed files are {total // MEGABYTE} MB. Nothing was written; the workspace stays as is.",
        next_step=f"Remove them from {folder} or name them in .gitignore, then: `asbuilt run`",
    )


def _as_kept(repository: Repository, ref: str, commit: str | None, workspace: Workspace) -> Kept:
    if commit is None:
        raise GitFailed(
            f"there is no workspace at {workspace.path}",
            why="The workspace is gone, and no earlier snapshot of this attempt exists.",
            next_step="`asbuilt run` makes a new workspace and restarts this phase.",
        )
    return Kept(commit=commit, tree=tree_of(repository.git, commit), ref=ref, ignored=())


def _joined(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)
