"""Create, reset and remove workspaces. Rule: files that are not kept under a ref are never deleted."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.errors import GitFailed, NotLanded, UsageWrong
from asbuilt.git.command import Git, check_oid
from asbuilt.git.commits import Person, commit_tree
from asbuilt.git.locks import guarded, set_ref
from asbuilt.git.objects import compare, tree_of
from asbuilt.git.repository import Repository, head_at, registered, tip
from asbuilt.git.workspace.checkouts import delete, fill
from asbuilt.git.workspace.snapshots import is_at, with_path_of, write_tree_of
from asbuilt.ports import Kept, Workspace

_READY: Final = "asbuilt-ready"
_ADDING: Final = "asbuilt-adding"
_LENT: Final = "asbuilt-lent"
_RESETTING: Final = "asbuilt-resetting"
_REASON: Final = "asbuilt workspace"
_PLAN_NAME: Final = 80
MAIN_LANE: Final = "main"


class Leftover(Struct, frozen=True, kw_only=True):
    """A workspace in git's registry, whether or not it is still needed."""

    workspace: Workspace
    run: str
    lane: str
    ready: bool
    """False: it was being created, reset or removed when the process died."""
    here: bool
    """Whether its folder exists."""


def make(
    repository: Repository, root: Path, run: str, lane: str, commit: str, *, files_of: str | None = None
) -> Workspace:
    """Create a linked worktree `root/run/lane` of a commit, detached and locked, unless it exists.

    `files_of` names another commit to take the files from: work that continues, shown as changes. A workspace
    that is ready is returned as it is, whatever an agent did in it. One that is half created or half reset is
    finished first: until its mark is set or removed, only asbuilt has written there.
    """
    path = root.resolve() / _name(run) / _name(lane)
    check_oid(commit)
    with guarded(repository.common) as held:
        git_dir = _registered_at(repository, path)
        if git_dir is None:
            git_dir = _add(repository, path, commit, f"{_REASON} {run}/{lane}", held)
    workspace = Workspace(path=path, git_dir=git_dir, common=repository.common)
    with guarded(git_dir) as held:
        resetting = _noted(workspace, _RESETTING)
        if resetting is not None:
            _reset(repository, workspace, resetting, held)
        elif (git_dir / _READY).is_file() and path.is_dir():
            relink(workspace)
        else:
            _finish(repository, workspace, commit, held, files_of=files_of)
    return workspace


def lane_folder(folder: Path, plan: str, lane: str) -> str:
    """Return the folder name of a lane's workspace: `rate-limit.1`, `rate-limit.1-verify-2a-1`.

    `plan` names the plan and the run's number. Older versions used the lane alone; such a folder is kept.
    """
    if (folder / lane).is_dir():
        return lane
    shown = re.sub(r"[^\w.-]+", "-", plan).strip(".-")[-_PLAN_NAME:].lstrip(".-")
    return shown if lane == MAIN_LANE else f"{shown}-{lane}"


def leftovers(repository: Repository, root: Path) -> tuple[Leftover, ...]:
    """List the workspaces below a root that are in git's registry. Never removes anything."""
    base = root.resolve()
    return tuple(
        Leftover(
            workspace=Workspace(path=path, git_dir=git_dir, common=repository.common),
            run=path.parent.name,
            lane=path.name,
            ready=(git_dir / _READY).is_file(),
            here=path.is_dir(),
        )
        for git_dir, path in registered(repository)
        if path.parent.parent == base
    )


def reset_to(repository: Repository, workspace: Workspace, commit: str, *, kept: Kept) -> None:
    """Set a workspace to a commit. Its files must be exactly those that were kept; ignored files stay.

    Also accepted: a workspace that is already at this commit's files, and one that is still as created.
    """
    there = tree_of(repository.git, check_oid(commit))
    if not _is_at(repository, workspace, there) and not _is_untouched(repository, workspace):
        why = "A workspace is reset only when every file in it is kept under a ref."
        _must_be(repository, workspace, kept.tree, why)
    holds = ("for-each-ref", "--format=%(refname)", f"--contains={check_oid(kept.commit)}", "--", kept.ref)
    if tip(repository, kept.ref) != kept.commit and repository.git.line(*holds) != kept.ref:
        raise NotLanded(
            f"the snapshot {kept.ref} is gone",
            why="The files of this workspace would be lost with a reset.",
            next_step="`asbuilt run` keeps them again.",
        )
    with guarded(workspace.git_dir) as held:
        _reset(repository, workspace, commit, held)


def put_back(
    repository: Repository, workspace: Workspace, path: str, *, kept: Kept, base: str, author: Person
) -> Kept:
    """Restore one path of a workspace to its version in `base`, on top of the snapshot; often a no-op.

    The agent's version stays under the attempt's ref, as a parent of the returned commit.
    """
    tree = with_path_of(repository, kept.tree, base, path)
    if tree == kept.tree:
        return kept
    message = f"Put {path} back\n".encode("utf-8", "surrogateescape")
    commit = commit_tree(repository, tree, parents=(base, kept.commit), author=author, message=message)
    set_ref(repository, kept.ref, new=commit, old=kept.commit)
    reset_to(repository, workspace, commit, kept=kept)
    return replace(kept, commit=commit, tree=tree)


def written_in(repository: Repository, workspace: Workspace, tree: str) -> list[str]:
    """List the files of a workspace that differ from a tree."""
    return [] if _is_at(repository, workspace, tree) else _differences(repository, workspace, tree)


def lend(workspace: Workspace, attempt: str) -> None:
    """Record the attempt whose files are in a workspace from now on, until it is reset."""
    _note(workspace, _LENT, attempt)


def lent_to(workspace: Workspace) -> str | None:
    """Return the attempt whose files are in a workspace; None if no agent has worked in it."""
    return _noted(workspace, _LENT)


def head_of(repository: Repository, workspace: Workspace) -> str:
    """Return the HEAD commit of a workspace."""
    found = head_at(repository, workspace.git_dir)
    if found is None:
        raise GitFailed(
            f"{workspace.path} has no commit",
            why=f"HEAD in {workspace.git_dir} names none.",
            next_step="`asbuilt run`, or look first: `git worktree list`",
        )
    return found


def remove(repository: Repository, workspace: Workspace) -> None:
    """Remove a workspace that is clean and whose commits are reachable; can be repeated.

    The folder is renamed first, which is atomic: a crash never leaves half a workspace under its own name.
    """
    doomed = workspace.path.with_name(f".removing-{workspace.path.name}")
    if workspace.path.is_dir():
        refuse_unreachable(repository, workspace)
        head = tree_of(repository.git, head_of(repository, workspace))
        _must_be(repository, workspace, head, "A workspace is removed only when nothing in it would be lost.")
        delete(doomed)
        workspace.path.rename(doomed)
    delete(doomed)
    with guarded(repository.common):
        if workspace.git_dir.parent == repository.common / "worktrees":
            delete(workspace.git_dir)
    with suppress(OSError):
        workspace.path.parent.rmdir()


def relink(workspace: Workspace) -> None:
    """Rewrite the workspace's `.git` file if it differs from what asbuilt wrote; an agent may replace it."""
    link = workspace.path / ".git"
    if is_linked(workspace):
        return
    delete(link)
    fresh = workspace.git_dir / "asbuilt-link"
    fresh.write_bytes(_link_to(workspace))
    shutil.copyfile(fresh, link)
    fresh.unlink()


def is_linked(workspace: Workspace) -> bool:
    """Return whether the workspace's `.git` file is as asbuilt wrote it."""
    link = workspace.path / ".git"
    return not link.is_symlink() and link.is_file() and link.read_bytes() == _link_to(workspace)


def _link_to(workspace: Workspace) -> bytes:
    return b"gitdir: " + os.fsencode(workspace.git_dir) + b"\n"


def _add(repository: Repository, path: Path, commit: str, reason: str, held: int) -> Path:
    if path.exists() and (path.is_symlink() or not path.is_dir() or any(path.iterdir())):
        raise GitFailed(
            f"{path} is in the way of a workspace",
            why="It is not one of git's worktrees, and its files may be work of yours. Move it elsewhere.",
            next_step=f"`mv {path} {path}.old`",
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    if repository.ref_format == "files":
        return _register(repository, path, commit, reason)
    words = ("worktree", "add", "--quiet", "--no-checkout", "--detach", "--lock", "--reason", reason)
    replace(repository.git, descriptors=(held,)).run(*words, "--", str(path), commit)
    git_dir = _registered_at(repository, path)
    if git_dir is None:
        raise GitFailed(
            f"git has made no workspace at {path}",
            why="git worktree add succeeded, but git does not list the workspace.",
            next_step="`asbuilt run`, or look first: `git worktree list`",
        )
    return git_dir


def _register(repository: Repository, path: Path, commit: str, reason: str) -> Path:
    """Add a worktree to git's registry in one step.

    Not by `git worktree add`: its new entry has a HEAD of zeros for a moment, in which `git fetch` and
    `git log --all` fail for everybody ("bad object"), and a kill leaves it so.
    """
    fresh, registry = repository.common / _ADDING, repository.common / "worktrees"
    delete(fresh)
    fresh.mkdir()
    registry.mkdir(exist_ok=True)
    files = {"gitdir": str(path / ".git"), "commondir": "../..", "HEAD": commit, "locked": reason}
    for name, text in files.items():
        (fresh / name).write_bytes(os.fsencode(f"{text}\n"))
    names = (f"{path.name}{number or ''}" for number in count())
    return fresh.rename(next(registry / name for name in names if not os.path.lexists(registry / name)))


def _finish(
    repository: Repository, workspace: Workspace, commit: str, held: int, *, files_of: str | None = None
) -> None:
    ready = workspace.git_dir / _READY
    ready.unlink(missing_ok=True)
    (workspace.git_dir / _LENT).unlink(missing_ok=True)
    workspace.path.mkdir(parents=True, exist_ok=True)
    # A lock here is stale: only asbuilt writes in this folder, and this process holds it.
    (workspace.git_dir / "index.lock").unlink(missing_ok=True)
    (workspace.git_dir / "HEAD.lock").unlink(missing_ok=True)
    for name, text in (("commondir", "../.."), ("HEAD", commit)):
        if not (workspace.git_dir / name).is_file():
            (workspace.git_dir / name).write_text(text + "\n", encoding="ascii")
    relink(workspace)
    is_on_branch = (workspace.git_dir / "HEAD").read_bytes().startswith(b"ref:")
    if head_at(repository, workspace.git_dir) != check_oid(commit) or is_on_branch:
        own = Git(git_dir=workspace.git_dir, descriptors=(held,))
        own.run("update-ref", "--no-deref", "HEAD", commit)
    fill(repository, workspace.path, files_of or commit, index=workspace.git_dir / "index", held=held)
    with ready.open("w", encoding="ascii") as file:
        file.write(commit + "\n")
        file.flush()
        os.fsync(file.fileno())


def _reset(repository: Repository, workspace: Workspace, commit: str, held: int) -> None:
    """Set a workspace to a commit; a note of the target lets `make` finish an interrupted reset."""
    note = _note(workspace, _RESETTING, commit)
    _finish(repository, workspace, commit, held)
    note.unlink()


def _noted(workspace: Workspace, name: str) -> str | None:
    try:
        return (workspace.git_dir / name).read_text(encoding="utf-8").rstrip("\n")
    except FileNotFoundError:
        return None


def _note(workspace: Workspace, name: str, text: str) -> Path:
    """Write a note beside a workspace's git folder, atomically."""
    fresh = workspace.git_dir / f"{name}.new"
    fresh.write_text(text + "\n", encoding="utf-8")
    return fresh.replace(workspace.git_dir / name)


def _registered_at(repository: Repository, path: Path) -> Path | None:
    return next((folder for folder, where in registered(repository) if where == path), None)


def refuse_unreachable(repository: Repository, workspace: Workspace) -> None:
    """Raise `NotLanded` if a workspace holds a commit that no ref contains."""
    named = {head_of(repository, workspace)}
    log = workspace.git_dir / "logs" / "HEAD"
    if log.is_file():
        named |= {
            line.split(b" ")[1].decode("ascii") for line in log.read_bytes().splitlines() if b" " in line
        }
    named.discard(repository.nothing)
    given = "\n".join(sorted(named)).encode()
    loose = repository.git.line("rev-list", "--max-count=1", "--stdin", "--not", "--glob=refs/*", stdin=given)
    if loose:
        raise NotLanded(
            f"{workspace.path} holds a commit that no branch has: {loose[:12]}",
            why="It would be lost with the workspace. Nothing was removed. A branch keeps it.",
            next_step=f"`git branch keep-{loose[:7]} {loose[:12]}`",
        )


def _is_at(repository: Repository, workspace: Workspace, tree: str) -> bool:
    return is_at(repository, workspace.path, tree)


def _is_untouched(repository: Repository, workspace: Workspace) -> bool:
    """Return whether a workspace is as created: its files are its commit's, and a ref contains the commit."""
    head = head_of(repository, workspace)
    named = repository.git.run("for-each-ref", "--count=1", "--format=%(refname)", f"--contains={head}")
    return bool(named.line) and _is_at(repository, workspace, tree_of(repository.git, head))


def _must_be(repository: Repository, workspace: Workspace, tree: str, why: str) -> None:
    if _is_at(repository, workspace, tree):
        return
    with_changes = _differences(repository, workspace, tree)
    raise NotLanded(
        f"{workspace.path} has files that are not kept: {', '.join(with_changes[:5])}",
        why=f"{why} Nothing was changed.",
        next_step="`asbuilt run` keeps them; or copy what you need and remove them yourself.",
    )


def _differences(repository: Repository, workspace: Workspace, tree: str) -> list[str]:
    kept, _ = write_tree_of(repository, workspace.path, base=tree)
    return [os.fsdecode(change.path) for change in compare(repository.git, tree, kept)]


def _name(part: str) -> str:
    if not re.fullmatch(r"[^.\-/\\\0\n][^/\\\0\n]*", part) or len(os.fsencode(part)) > 200:
        raise UsageWrong(
            f"{part!r} cannot name a workspace",
            why="It becomes a folder name and must stay inside the workspaces' folder.",
            next_step="Use letters, digits, hyphens, underscores and dots.",
        )
    return part
