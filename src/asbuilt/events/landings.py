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

    @property
    def words(self) -> str:
        """Return the place as a sentence without a subject."""
        place = self.ahead + 1
        ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
        return f"{place}{ending} in line for {self.branch}, behind {self.behind}"


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
    moved: bool = True
    """Whether the branch moved; False: it needed no commit."""
    by_hand: bool = False
    """asbuilt found all of it on the branch, such as merged by the user, and proved it there."""
    commits: tuple[tuple[str, str, str, str], ...] = ()
    marks: bool = False


class LandingRefused(Event, frozen=True, kw_only=True):
    """Proven work could not land."""

    kind: ClassVar[str] = "landing.refused"
    what: str = ""
    why: str = ""
    next: str = ""
    other: str = ""
    """An alternative to the next step."""
    evidence: str | None = None
    """Digest of the evidence of the checks that refused it."""
    reverts: bool = False


class LandingDeclined(Event, frozen=True, kw_only=True):
    """A user declined to land what a run has proven. The proven commits are kept."""

    kind: ClassVar[str] = "landing.declined"
    by: str
    note: str = ""

    @property
    def words(self) -> str:
        """Who declined it, and why: `declined by ann: not before the release`."""
        return f"declined by {self.by}" + (f": {self.note.rstrip('.')}" if self.note else "")


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
    reverted: bool = True
    """Whether landed commits were reverted; False: nothing had landed."""
    found: bool = True
    """Whether the branch has a commit that landed; False: it was rewritten, or others made the change."""
    kept: str = ""
    """The ref of proven work that had not landed."""
    details: str = ""
    commits: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return what was undone, and where work that had not landed is kept."""
        if not self.reverted:
            first = "nothing had landed"
        elif self.found:
            first = "the landed commits are reverted"
        else:
            first = "the branch has no commit of asbuilt to revert"
        return f"{first}; the proven work is kept under {self.kept}" if self.kept else first


class LandingUnsigned(Event, frozen=True, kw_only=True):
    """A commit was written without a signature, because the key could not be used."""

    kind: ClassVar[str] = "landing.unsigned"
    why: str
