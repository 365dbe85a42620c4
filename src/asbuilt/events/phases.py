"""Events of a plan's phases, and of the preparation before the first phase."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.event import Event, Outcome


class WorkspaceMade(Event, frozen=True, kw_only=True):
    """A workspace for agents was created."""

    kind: ClassVar[str] = "workspace.made"
    lane: str = "main"


class TestsResolved(Event, frozen=True, kw_only=True):
    """The test commands of the project were determined."""

    __test__: ClassVar[bool] = False
    kind: ClassVar[str] = "tests.resolved"
    source: str = "given"
    command: str | None = None
    found: tuple[str, ...] = ()
    said: bool = False
    suites: tuple[tuple[str, ...], ...] = ()
    unknown: tuple[str, ...] = ()
    agreed: str | None = None
    revision: int = 0


class SetupDone(Event, frozen=True, kw_only=True):
    """The setup of a checkout ran."""

    kind: ClassVar[str] = "setup.done"
    outcome: Outcome
    command: str | None = None
    script: str | None = None
    digest: str = ""
    why: str = ""
    output: str | None = None
    evidence: str | None = None
    revision: int = 0


class BaselineDone(Event, frozen=True, kw_only=True):
    """The tests ran on the base, before any work."""

    kind: ClassVar[str] = "baseline.done"
    version: ClassVar[int] = 2
    outcome: Outcome
    why: str = ""
    ran: int | None = None
    failed: int | None = None
    took_s: float | None = None
    asks: bool = False
    counts: str | None = None
    evidence: str | None = None
    revision: int = 0


class PhaseBegun(Event, frozen=True, kw_only=True):
    """A phase started; its text in the plan was frozen."""

    kind: ClassVar[str] = "phase.begun"
    phase: str
    intent: str | None = None
    text: str = ""


class PhaseProven(Event, frozen=True, kw_only=True):
    """A phase is proven and has a commit."""

    kind: ClassVar[str] = "phase.proven"
    phase: str
    commit: str
    waived: str | None = None
    corrected: str | None = None
    remarks: str | None = None


class PhaseRechecked(Event, frozen=True, kw_only=True):
    """The checks of a phase ran again on the current state."""

    kind: ClassVar[str] = "phase.rechecked"
    phase: str
    outcome: Outcome
    failures: tuple[str, ...] = ()
    evidence: str | None = None


class PhaseMarked(Event, frozen=True, kw_only=True):
    """A user marked a phase, or an item of it."""

    kind: ClassVar[str] = "phase.marked"
    phase: str
    status: str = ""
    item: int | str | None = None
    by: str = "hand"


class SignOffWanted(Event, frozen=True, kw_only=True):
    """A change in a proven phase needs a user's sign-off before it lands."""

    kind: ClassVar[str] = "signoff.wanted"
    item: str
    phase: str
    question: str


class PicturesTaken(Event, frozen=True, kw_only=True):
    """Screenshots of the user interface were taken."""

    kind: ClassVar[str] = "pictures.taken"
    command: str
    outcome: Outcome
    why: str = ""
    tree: str = ""
    pictures: str = ""
    output: str | None = None
