"""Values that a forge reports about pull requests and issues. Rule: nothing here calls the forge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

PullState = Literal["open", "merged", "closed"]
Mergeable = Literal["yes", "no", "unknown"]
"""`unknown`: the forge has not computed it yet; poll again."""
CheckState = Literal["none", "pending", "green", "red"]
"""`none`: no check has been reported for the commit."""
ReviewState = Literal["approved", "changes_requested", "commented", "dismissed"]


class Pull(Struct, frozen=True, kw_only=True):
    """A pull request at the forge."""

    number: int
    url: str
    branch: str
    """Short name of its source branch."""
    head: str
    """Commit of that branch at the forge."""
    base: str
    """Short name of its target branch."""
    title: str
    body: str
    state: PullState
    mergeable: Mergeable = "unknown"
    merged_as: str | None = None
    """The commit on the target branch, once it is merged."""


class Checks(Struct, frozen=True, kw_only=True):
    """State of the forge's checks for one commit."""

    state: CheckState
    failing: tuple[str, ...] = ()
    """Names of the failing checks, in order."""
    pending: tuple[str, ...] = ()
    excerpt: str = ""
    """End of the failing checks' output, as far as the forge returns it; untrusted text."""


class Review(Struct, frozen=True, kw_only=True):
    """One review of a pull request."""

    id: int
    by: str
    state: ReviewState
    body: str
    commit: str
    """The head that was reviewed."""
    at: str


class Comment(Struct, frozen=True, kw_only=True):
    """A comment on one line of a pull request's files."""

    id: int
    by: str
    path: str
    line: int | None
    """None: the line is no longer part of the change."""
    body: str
    at: str
    review: int | None = None
    """The review that it belongs to; None if the forge names none."""


class Issue(Struct, frozen=True, kw_only=True):
    """An issue at the forge."""

    number: int
    title: str
    is_open: bool
    url: str


class Touched(Struct, frozen=True, kw_only=True):
    """The files that an open pull request changes."""

    number: int
    paths: tuple[str, ...]


class Pushed(Struct, frozen=True, kw_only=True):
    """The remote branch is at the commit; `already`: it was there before the push."""

    branch: str
    commit: str
    already: bool = False


class BranchMoved(Struct, frozen=True, kw_only=True):
    """The remote branch was moved by another user, so nothing was pushed or deleted."""

    branch: str
    found: str | None


class NotMerged(Struct, frozen=True, kw_only=True):
    """The forge refused to merge and gave a reason; the pull request is unchanged."""

    why: str


def crossing(pulls: Iterable[Touched], prefixes: Iterable[str], *, but: int | None = None) -> tuple[int, ...]:
    """Return the pull requests that change a path with one of the prefixes; a leading `./` is ignored."""
    wanted = tuple(prefix.removeprefix("./") for prefix in prefixes)
    return tuple(
        touched.number
        for touched in pulls
        if touched.number != but and any(path.startswith(wanted) for path in touched.paths)
    )
