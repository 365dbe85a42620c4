"""What a forge tells of pull requests and issues, as plain values. The one rule: nothing here asks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

PullState = Literal["open", "merged", "closed"]
Mergeable = Literal["yes", "no", "unknown"]
"""`unknown`: the forge has not worked it out yet; ask again."""
CheckState = Literal["none", "pending", "green", "red"]
"""`none`: no check has been reported for the commit."""
ReviewState = Literal["approved", "changes_requested", "commented", "dismissed"]
MergeWay = Literal["merge", "squash", "rebase"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """One pull request as the forge has it."""

    number: int
    url: str
    branch: str
    """The branch that it brings, by its short name."""
    head: str
    """That branch's commit, as the forge knows it."""
    base: str
    """The branch that it is meant for, by its short name."""
    title: str
    body: str
    state: PullState
    mergeable: Mergeable = "unknown"
    merged_as: str | None = None
    """The commit on the base that holds it, once it is merged."""
    is_draft: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """What the forge's own checks say of one commit."""

    state: CheckState
    failing: tuple[str, ...] = ()
    """The names of what is red, in order."""
    pending: tuple[str, ...] = ()
    excerpt: str = ""
    """The end of what the failing ones have said, as far as the forge hands it out; somebody else's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What one person said of a pull request."""

    id: int
    by: str
    state: ReviewState
    body: str
    commit: str
    """The head that was looked at."""
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A remark at one line of a pull request's files."""

    id: int
    by: str
    path: str
    line: int | None
    """None: the line is no longer part of the change."""
    body: str
    at: str
    review: int | None = None
    """The review that it was sent with; None: the forge names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue as the forge has it."""

    number: int
    title: str
    is_open: bool
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """The files that an open pull request changes."""

    number: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """The remote branch is at the commit; `already`: it was before we pushed."""

    branch: str
    commit: str
    already: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchMoved:
    """Somebody else has moved the remote branch, so that nothing was pushed or deleted."""

    branch: str
    expected: str | None
    """None: the branch was expected not to be there."""
    found: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMerged:
    """The forge did not merge, and says why; the pull request is as it was."""

    why: str
    head_moved: bool = False
    """Its head is not the commit that was to be merged."""


def crossing(pulls: Iterable[Touched], prefixes: Iterable[str], *, but: int | None = None) -> tuple[int, ...]:
    """Name the pull requests that change a path with such a beginning; a leading `./` means nothing."""
    wanted = tuple(prefix.removeprefix("./") for prefix in prefixes)
    return tuple(
        one.number
        for one in pulls
        if one.number != but and any(path.startswith(wanted) for path in one.paths)
    )
