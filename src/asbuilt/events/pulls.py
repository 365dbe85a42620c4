"""Events of a plan's pull request and its issues."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.event import Event


class PullIntended(Event, frozen=True, kw_only=True):
    """A branch is about to be pushed."""

    kind: ClassVar[str] = "pull.intended"
    elsewhere: ClassVar[str] = "details"
    head: str
    target: str
    theirs: bool = False
    details: str = ""
    commits: tuple[tuple[str, str, str, str], ...] = ()
    marks: bool = False


class PullPushed(Event, frozen=True, kw_only=True):
    """A branch was pushed."""

    kind: ClassVar[str] = "pull.pushed"
    branch: str
    head: str
    target: str
    pushed_at: str = ""


class PullOpening(Event, frozen=True, kw_only=True):
    """A pull request is about to be opened."""

    kind: ClassVar[str] = "pull.opening"
    branch: str
    into: str


class PullOpened(Event, frozen=True, kw_only=True):
    """A pull request is open."""

    kind: ClassVar[str] = "pull.opened"
    number: int
    url: str = ""


class PullSeen(Event, frozen=True, kw_only=True):
    """The state of a pull request was read from the forge."""

    kind: ClassVar[str] = "pull.seen"
    elsewhere: ClassVar[str] = "details"
    state: str
    asked_at: str
    head: str | None = None
    mergeable: str = "unknown"
    checks: str = "none"
    target: str | None = None
    details: str = ""
    failing: tuple[str, ...] = ()
    excerpt: str = ""


class PullBlocked(Event, frozen=True, kw_only=True):
    """The push is blocked."""

    kind: ClassVar[str] = "pull.blocked"
    elsewhere: ClassVar[str] = "details"
    why: str
    what: str
    next: str = ""
    details: str = ""
    commit: str = ""
    here: str = ""
    paths: tuple[str, ...] = ()


class PullMended(Event, frozen=True, kw_only=True):
    """A repair by an agent is part of the next push."""

    kind: ClassVar[str] = "pull.mended"
    repair: str
    number: int
    tree: str | None = None
    of: str | None = None
    here: str | None = None
    commit: str | None = None


class PullMerging(Event, frozen=True, kw_only=True):
    """A merge is about to be requested from the forge."""

    kind: ClassVar[str] = "pull.merging"
    number: int
    head: str


class PullMerged(Event, frozen=True, kw_only=True):
    """The forge merged the pull request."""

    kind: ClassVar[str] = "pull.merged"
    number: int
    new: str | None = None


class PullRefused(Event, frozen=True, kw_only=True):
    """The forge refused to merge."""

    kind: ClassVar[str] = "pull.refused"
    why: str


class PullDropping(Event, frozen=True, kw_only=True):
    """The branch of a merged pull request is about to be deleted at the forge."""

    kind: ClassVar[str] = "pull.dropping"
    branch: str
    head: str


class PullInvariants(Event, frozen=True, kw_only=True):
    """The invariants of a landing were checked."""

    kind: ClassVar[str] = "pull.invariants"
    broken: tuple[str, ...] = ()
    held: int = 0
    warned: tuple[str, ...] = ()


class IssuesTelling(Event, frozen=True, kw_only=True):
    """Comments about the landing are about to be written to issues."""

    kind: ClassVar[str] = "issues.telling"
    numbers: tuple[int, ...] = ()


class IssuesTold(Event, frozen=True, kw_only=True):
    """Comments about the landing were written to issues."""

    kind: ClassVar[str] = "issues.told"
    numbers: tuple[int, ...] = ()
    failed: tuple[str, ...] = ()


class IssueHeld(Event, frozen=True, kw_only=True):
    """Another plan has claimed an issue that this plan names."""

    kind: ClassVar[str] = "issue.held"
    number: int
    plan: str
    since: str
