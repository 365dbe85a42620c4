"""Invariants after a landing by pull request. Pure."""

from __future__ import annotations

from typing import NamedTuple


class Left(NamedTuple):
    """State after a landing."""

    folders: tuple[str, ...] = ()
    """Workspaces of the landed runs that exist on disk."""
    registered: tuple[str, ...] = ()
    """Workspaces that git still lists."""
    branch: str | None = None
    """The plan's branch, if it exists."""
    pushed: str | None = None
    """The pull request's branch at the forge, if it exists."""
    has_report: bool = True
    under_way: tuple[str, ...] = ()
    """Phases that the plan on the target marks as in progress."""
    state: str = "merged"
    """State of the pull request at the forge."""
    is_reconcilable: bool = True
    """The user's own target branch can follow the forge's without losing a commit."""


def broken(left: Left) -> list[str]:
    """Return the violated invariants."""
    told = (
        (left.folders, f"a workspace is still on disk: {', '.join(left.folders)}"),
        (left.registered, f"git still lists a workspace: {', '.join(left.registered)}"),
        (left.branch, f"the branch {left.branch} still exists"),
        (left.pushed, f"the branch {left.pushed} still exists at the forge"),
        (not left.has_report, "no report was written"),
        (left.under_way, f"the plan marks phase {', '.join(left.under_way)} as in progress"),
        (left.state != "merged", f"the pull request is {left.state}"),
    )
    return [words for is_so, words in told if is_so]


def warnings(left: Left, target: str) -> list[str]:
    """Return problems that need user action but fail nothing."""
    return [] if left.is_reconcilable else [f"your {target} and the forge's have diverged"]
