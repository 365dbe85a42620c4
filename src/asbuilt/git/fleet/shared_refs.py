"""The refs of a run that all workers share, on the attempts remote.

Rule: an event of a run is recorded only after the refs that it speaks of are on the remote (`publish`), and a
worker reads them (`fetch`) before its first move. So any worker can continue the run.

On the remote, attempts are `refs/asbuilt/attempts/RUN.*`, results of agents `refs/asbuilt/results/RUN.*`, and
the plan's branch is `refs/asbuilt/plans/SLUG`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from asbuilt.errors import ForgeFailed, GateStopped
from asbuilt.git.command import check_branch, check_oid, check_ref_name
from asbuilt.git.locks import drop_ref, set_ref
from asbuilt.git.repository import Repository, plan_branch, tip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from asbuilt.git.forge.branches import Remote

_KEPT: Final = ("refs/asbuilt/attempts/", "refs/asbuilt/results/")
_RESULTS: Final = _KEPT[1]
_PLANS: Final = "refs/asbuilt/plans/"


@dataclass(slots=True, kw_only=True)
class SharedRefs:
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
        ref = check_ref_name(_RESULTS + attempt)
        blob = self._mirror.git.line("hash-object", "-w", "--stdin", stdin=data)
        if (before := tip(self._mirror, ref)) != blob:
            set_ref(self._mirror, ref, new=blob, old=before)

    def result(self, attempt: str) -> bytes | None:
        """Return the result of an attempt that a worker has kept, or None."""
        ref = check_ref_name(_RESULTS + attempt)
        blob = tip(self._mirror, ref)
        return None if blob is None else self._mirror.git.said("cat-file", "blob", blob).out

    def _here(self) -> dict[str, str]:
        """Return the run's refs in the mirror, by their names on the remote."""
        own = self._own_branch
        asked = [f"{kept}{self.run}.*" for kept in _KEPT]
        said = self._mirror.git.line("for-each-ref", "--format=%(refname) %(objectname)", "--", *asked, own)
        found = dict(line.split(" ", 1) for line in said.splitlines())
        return {(_PLANS + self.slug if ref == own else ref): at for ref, at in found.items()}
