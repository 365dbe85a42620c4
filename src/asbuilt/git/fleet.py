"""The refs of a run that all workers share, on the attempts remote.

Rule: an event of a run is recorded only after the refs that it speaks of are on the remote (`publish`), and a
worker reads them (`fetch`) before its first move. So any worker can continue the run.

On the remote, attempts are `refs/asbuilt/attempts/RUN.*`, results of agents `refs/asbuilt/results/RUN.*`, and
the plan's branch is `refs/asbuilt/plans/SLUG`.

Workspaces are made from mirrors: bare repositories in the worker's state folder. Rule: a mirror holds nothing
that its remote does not have, except work of a move that was cut off. So a mirror without workspaces can be
deleted.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from asbuilt.errors import ForgeFailed, GateStopped
from asbuilt.git.command import Git, check_branch, check_oid, check_ref_name
from asbuilt.git.locks import drop_ref, guarded, set_ref
from asbuilt.git.repository import Repository, open_repository, plan_branch, tip
from asbuilt.git.workspace.snapshots import ATTEMPTS, RESULTS

if TYPE_CHECKING:
    from asbuilt.git.forge.branches import Remote

_KEPT: Final = (ATTEMPTS, RESULTS)
_PLANS: Final = "refs/asbuilt/plans/"
_USED: Final = "asbuilt-used"


class SharedRefs(Struct, kw_only=True):
    """The shared refs of one run, as this worker last saw them."""

    remote: Remote
    """Where the run lands; the repository in it is the mirror."""
    attempts: Remote
    """Where attempts are kept: the same remote, unless another one is set."""
    run: str
    slug: str
    branch: str
    """The branch that the run lands on."""
    _known: dict[str, str] = field(default_factory=dict)
    """The refs on the attempts remote, by name."""

    @property
    def _mirror(self) -> Repository:
        return self.remote.repository

    @property
    def _own_branch(self) -> str:
        return f"refs/heads/{plan_branch(self._mirror, self.slug)}"

    def fetch(self, earlier: Iterable[str] = (), *, with_plan: bool = True) -> None:
        """Read the target and the run's refs, and those of earlier runs, from the remotes.

        Without `with_plan`, the plan's branch here stays: another execution may be moving it.
        """
        self.fetch_target()
        plan = check_ref_name(_PLANS + self.slug)
        asked = [f"{kept}{run}.*" for kept in _KEPT for run in (self.run, *earlier)]
        self._known = self.attempts.listed(plan, *asked)
        wanted = {ref: (self._own_branch if ref == plan else ref) for ref in self._known}
        at = {here: tip(self._mirror, here) for here in wanted.values()}
        # A ref of this run that is only newer here was kept by a move that was cut off.
        self.attempts.fetch_refs(
            {
                ref: here
                for ref, here in wanted.items()
                if at[here] is None or (ref == plan and with_plan and at[here] != self._known[ref])
            }
        )
        if with_plan and plan not in self._known and (old := tip(self._mirror, self._own_branch)):
            # Another worker has landed the plan's work, or this one was killed before it published it.
            drop_ref(self._mirror, self._own_branch, old=old)

    def fetch_target(self) -> str:
        """Read the target's tip from the remote; return it."""
        commit = self.remote.fetch(self.branch)
        if commit is None:
            raise GateStopped(
                f"the remote has no branch {self.branch}",
                why="A run of the fleet builds on the tip of its target branch on the remote.",
                next_step=f"`git push origin {self.branch}`, then run again.",
            )
        self.set_target(commit)
        return commit

    def set_target(self, commit: str) -> None:
        """Set the mirror's copy of the target."""
        ref = check_branch(self.branch)
        if (before := tip(self._mirror, ref)) != commit:
            set_ref(self._mirror, ref, new=check_oid(commit), old=before)

    def publish(self) -> None:
        """Push the run's refs that differ from those on the attempts remote; a no-op if none does."""
        here = self._here()
        plan = _PLANS + self.slug
        changed = {ref: commit for ref, commit in here.items() if self._known.get(ref) != commit}
        gone = [plan] if plan in self._known and plan not in here else []
        if not changed and not gone:
            return
        try:
            self.attempts.push_refs(changed, gone=gone, known=self._known)
        except ForgeFailed:
            # The push may have succeeded although its answer was lost.
            now = self.attempts.listed(*changed, *gone)
            if {ref: now.get(ref) for ref in (*changed, *gone)} != {**changed, **dict.fromkeys(gone)}:
                raise
        self._known = {ref: at for ref, at in (self._known | changed).items() if ref not in gone}

    def keep_result(self, attempt: str, data: bytes) -> None:
        """Keep the result of an attempt under a ref; `publish` pushes it together with the attempt's tree."""
        ref = check_ref_name(RESULTS + attempt)
        blob = self._mirror.git.line("hash-object", "-w", "--stdin", stdin=data)
        if (before := tip(self._mirror, ref)) != blob:
            set_ref(self._mirror, ref, new=blob, old=before)

    def result(self, attempt: str) -> bytes | None:
        """Return the result of an attempt that a worker has kept, or None."""
        ref = check_ref_name(RESULTS + attempt)
        blob = tip(self._mirror, ref)
        return None if blob is None else self._mirror.git.run("cat-file", "blob", blob).out

    def _here(self) -> dict[str, str]:
        """Return the run's refs in the mirror, by their names on the remote."""
        own = self._own_branch
        asked = [f"{kept}{self.run}.*" for kept in _KEPT]
        output = self._mirror.git.line("for-each-ref", "--format=%(refname) %(objectname)", "--", *asked, own)
        found = dict(line.split(" ", 1) for line in output.splitlines())
        return {(_PLANS + self.slug if ref == own else ref): at for ref, at in found.items()}


def open_mirror(root: Path, name: str, url: str) -> Repository:
    """Open the mirror of a remote; make an empty one if there is none."""
    folder = root / f"{name}.git"
    if not folder.is_dir():
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with guarded(root):
            if not folder.is_dir():
                _make(root, folder, url)
    (folder / _USED).touch()
    return open_repository(folder)


def prune(mirror: Repository) -> None:
    """Let git pack a mirror, and delete objects that no ref has named for weeks, if it has many."""
    git = replace(mirror.git, timeout_s=600.0)
    git.run("-c", "gc.auto=1000", "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet")


def evict(root: Path, *, budget: int) -> list[str]:
    """Delete the mirrors that were used least recently until all fit the budget in bytes; return their names.

    A mirror that has workspaces stays.
    """
    if not root.is_dir():
        return []
    gone = []
    with guarded(root):
        found = sorted(root.glob("*.git"), key=_used_at)
        sizes = {folder: _size(folder) for folder in found}
        for folder in found:
            if sum(sizes.values()) <= budget:
                break
            if any((folder / "worktrees").glob("*")):
                continue
            doomed = folder.with_name(f".{folder.name}.going")
            folder.rename(doomed)
            shutil.rmtree(doomed)
            del sizes[folder]
            gone.append(folder.name.removesuffix(".git"))
    return gone


def _make(root: Path, folder: Path, url: str) -> None:
    """Make a mirror under another name and rename it, so that a kill leaves no half mirror."""
    with tempfile.TemporaryDirectory(dir=root, prefix=".new-", ignore_cleanup_errors=True) as scratch:
        fresh = Path(scratch) / "mirror"
        fresh.mkdir(mode=0o700)
        git = Git(git_dir=fresh)
        git.run("init", "--quiet", "--bare", "--template=", "--initial-branch=none")
        git.run("config", "--local", "remote.origin.url", url)
        fresh.rename(folder)


def _used_at(folder: Path) -> float:
    try:
        return (folder / _USED).stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _size(folder: Path) -> int:
    return sum(
        os.lstat(os.path.join(at, file)).st_size  # noqa: PTH118 - thousands of files
        for at, _, files in os.walk(folder)
        for file in files
    )
