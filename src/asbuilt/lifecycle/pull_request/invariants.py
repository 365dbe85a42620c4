"""What must hold after a landing by pull request. Pure: what was found goes in, what is broken comes out."""

from __future__ import annotations

from typing import NamedTuple


class Left(NamedTuple):
    """What was found after a landing."""

    folders: tuple[str, ...] = ()
    """Workspaces of the landed runs that are on the disk."""
    registered: tuple[str, ...] = ()
    """Those that git has on file."""
    branch: str | None = None
    """The plan's branch, if it is there."""
    pushed: str | None = None
    """The pull request's branch at the forge, if it is there."""
    has_report: bool = True
    under_way: tuple[str, ...] = ()
    """Phases that the plan on the target says are under way."""
    state: str = "merged"
    """What the forge says of the pull request."""
    is_reconcilable: bool = True
    """The person's own target can follow the forge's without losing a commit."""


def broken(left: Left) -> list[str]:
    """Name what does not hold."""
    told = (
        (left.folders, f"a workspace is on the disk: {', '.join(left.folders)}"),
        (left.registered, f"git lists a workspace: {', '.join(left.registered)}"),
        (left.branch, f"the branch {left.branch} is there"),
        (left.pushed, f"the branch {left.pushed} is there at the forge"),
        (not left.has_report, "no report was written"),
        (left.under_way, f"the plan says that phase {', '.join(left.under_way)} is under way"),
        (left.state != "merged", f"the pull request is {left.state}"),
    )
    return [words for is_so, words in told if is_so]


def warnings(left: Left, target: str) -> list[str]:
    """Name what holds no longer by itself, and stops nothing."""
    return [] if left.is_reconcilable else [f"your {target} and the forge's have each commits of their own"]
