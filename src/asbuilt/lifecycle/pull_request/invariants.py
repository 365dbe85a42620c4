"""Invariants of a landing by pull request: what must not be left behind."""

from __future__ import annotations

from typing import NamedTuple


class Left(NamedTuple):
    """State after a landing."""

    folders: tuple[str, ...] = ()
    registered: tuple[str, ...] = ()
    """Workspaces that git still lists."""
    branch: str | None = None
    pushed: str | None = None
    has_report: bool = True
    under_way: tuple[str, ...] = ()
    state: str = "merged"
    is_reconcilable: bool = True
    """The user's own target branch can follow the forge's without losing a commit."""


def broken(left: Left) -> list[str]:
    """Return the violated invariants."""
    failures = (
        (left.folders, f"a workspace is still on disk: {', '.join(left.folders)}"),
        (left.registered, f"git still lists a workspace: {', '.join(left.registered)}"),
        (left.branch, f"the branch {left.branch} still exists"),
        (left.pushed, f"the branch {left.pushed} still exists at the forge"),
        (not left.has_report, "no report was written"),
        (left.under_way, f"the plan marks phase {', '.join(left.under_way)} as in progress"),
        (left.state != "merged", f"the pull request is {left.state}"),
    )
    return [words for is_so, words in failures if is_so]


def warnings(left: Left, target: str) -> list[str]:
    """Return problems that need user action but fail nothing."""
    return [] if left.is_reconcilable else [f"your {target} and the forge's have diverged"]
