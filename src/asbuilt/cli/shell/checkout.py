"""What a command learns from the checkout that it runs in, each fact once.

Rule: git starts only if files of the git folder do not answer, and once for all plans of a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from asbuilt.errors import AsbuiltError
from asbuilt.library.repository_discovery import Repository, find_repository, is_detached, merging, tip_of
from asbuilt.settings import Settings

Merge = Literal["none", "begun", "merged"]


class Unlanded(NamedTuple):
    """Proven commits of a plan that have not landed, the branch they are for, and the base of their run."""

    branch: str
    base: str | None
    commits: tuple[str, ...]


class Checkout:
    """A checkout, with what was read from it."""

    def __init__(self, root: Path, settings: Settings) -> None:
        """Keep the folder and the settings that apply there; nothing else is read before it is asked for."""
        self.root, self.settings = root, settings
        self._merges: dict[Unlanded, Merge] = {}

    @cached_property
    def repository(self) -> Repository | None:
        """Its git folder; None if the folder is no checkout any more."""
        return find_repository(self.root)

    @cached_property
    def is_detached(self) -> bool:
        """Whether no branch is checked out."""
        return self.repository is not None and is_detached(self.repository)

    def merges(self, plans: Sequence[Unlanded]) -> list[Merge]:
        """Return how far the user has merged the commits of each plan into their branch."""
        new = {plan for plan in plans if plan not in self._merges}
        self._merges.update(dict.fromkeys(new, "none"))
        begun = merging(self.repository) if self.repository is not None and any(map(_commits, new)) else ""
        self._merges.update((plan, "begun") for plan in new if begun and begun in plan.commits)
        moved = [plan for plan in new if self._may_have(plan)]
        for branch in {plan.branch for plan in moved}:
            on_branch = [plan for plan in moved if plan.branch == branch]
            there = self._landed(branch, {commit for plan in on_branch for commit in plan.commits})
            self._merges.update((plan, "merged") for plan in on_branch if there.issuperset(plan.commits))
        return [self._merges[plan] for plan in plans]

    def _may_have(self, plan: Unlanded) -> bool:
        """Return whether a branch may have commits: not while it points to the base of their run."""
        repository = self.repository
        is_open = bool(plan.commits) and self._merges[plan] == "none"
        return is_open and repository is not None and tip_of(repository, plan.branch) not in (plan.base, "")

    def _landed(self, branch: str, proven: Iterable[str]) -> set[str]:
        """Return which of some proven commits a branch has."""
        from asbuilt.git.commits import landed_on, read_commit  # noqa: PLC0415  it starts git: few calls need it
        from asbuilt.git.repository import open_repository, tip  # noqa: PLC0415
        from asbuilt.git.trees import is_here  # noqa: PLC0415

        try:
            repository = open_repository(self.root)
            at = tip(repository, f"refs/heads/{branch}")
            sources = [read_commit(repository, commit) for commit in proven if is_here(repository, commit)]
            return {*landed_on(repository, at, sources)} if at else set()
        except AsbuiltError:  # without git, or with a damaged repository, the journal is still shown
            return set()


def _commits(plan: Unlanded) -> tuple[str, ...]:
    return plan.commits
