"""Events of landing proven work on its target branch."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.event import Event


class LandingIntended(Event, frozen=True, kw_only=True):
    """A branch is about to be moved. After a crash, recovery checks whether it was."""

    kind: ClassVar[str] = "landing.intended"
    elsewhere: ClassVar[str] = "details"
    new: str
    old: str
    checkout: str | None = None
    details: str = ""
    commits: tuple[tuple[str, str, str, str], ...] = ()
    marks: bool = False


class LandingQueued(Event, frozen=True, kw_only=True):
    """A run waits in line for its branch, because other runs land there first."""

    kind: ClassVar[str] = "landing.queued"
    branch: str
    ahead: int
    """Number of runs ahead of it."""
    behind: str
    """The plan directly ahead of it."""


class LandingTurn(Event, frozen=True, kw_only=True):
    """A run is the first in line for its branch, or the second, which gets ready."""

    kind: ClassVar[str] = "landing.turn"
    branch: str
    ahead: int = 0


class LandingRetried(Event, frozen=True, kw_only=True):
    """Work failed on the tip of its target, and is proven there a second time."""

    kind: ClassVar[str] = "landing.retried"
    what: str


class LandingDone(Event, frozen=True, kw_only=True):
    """Proven work landed on its target."""

    kind: ClassVar[str] = "landing.done"
    elsewhere: ClassVar[str] = "details"
    new: str
    branch: str = ""
    details: str = ""
    reverts: bool = False
    commits: tuple[tuple[str, str, str, str], ...] = ()
    marks: bool = False


class LandingRefused(Event, frozen=True, kw_only=True):
    """Proven work could not land."""

    kind: ClassVar[str] = "landing.refused"
    what: str = ""
    why: str = ""
    next: str = ""
    reverts: bool = False


class LandingRecovered(Event, frozen=True, kw_only=True):
    """Recovery determined how an interrupted landing ended."""

    kind: ClassVar[str] = "landing.recovered"
    found: str
    restored: int = 0
    left: tuple[str, ...] = ()


class LandingTidied(Event, frozen=True, kw_only=True):
    """Workspaces, branch and candidate of a landing were removed."""

    kind: ClassVar[str] = "landing.tidied"
    branch: str | None = None
    kept: tuple[str, ...] = ()
    kept_in_all: int = 0


class LandingUndone(Event, frozen=True, kw_only=True):
    """Landed or proven work of a run was reverted."""

    kind: ClassVar[str] = "landing.undone"
    elsewhere: ClassVar[str] = "details"
    of: str | None = None
    details: str = ""
    commits: tuple[str, ...] = ()


class LandingUnsigned(Event, frozen=True, kw_only=True):
    """A commit was written without a signature, because the key could not be used."""

    kind: ClassVar[str] = "landing.unsigned"
    why: str
