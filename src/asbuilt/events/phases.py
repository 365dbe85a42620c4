"""Events of a plan's phases, and of the preparation before the first phase."""

from __future__ import annotations

from typing import ClassVar, Literal

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
    brought: bool = False
    """The plan's first run found no tests, so these are from the plan's own work."""
    has_files: bool = True
    """The tree has test files; False: its files suggest a command that has nothing to run yet."""
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
    delegate: str = ""
    """The plan that it is delegated to."""
    driven: bool = False
    """A tester drives its interface before it is proven."""
    edited: bool = False
    """Its text in the plan was changed after the run's first phase started."""


class PhaseForked(Event, frozen=True, kw_only=True):
    """A lane was opened: work on a phase starts or continues beside other phases, on a commit."""

    kind: ClassVar[str] = "phase.forked"
    phase: str
    base: str


class PhaseJoined(Event, frozen=True, kw_only=True):
    """A lane was closed: its phase is ready to be merged, or was given up."""

    kind: ClassVar[str] = "phase.joined"
    phase: str
    state: Literal["ready", "failed", "stopped"]
    number: int = 0
    """The proven attempt of a phase that is ready."""
    reason: str = ""
    next: str = ""
    """Next step for the user."""
    code: int | None = None


class PhaseMerged(Event, frozen=True, kw_only=True):
    """A ready phase was merged with the phases that were proven since its lane was opened."""

    kind: ClassVar[str] = "phase.merged"
    phase: str
    number: int
    """The attempt that holds the result."""
    of: int
    """The proven attempt that was merged."""
    base: str
    commit: str
    tree: str
    conflicts: tuple[str, ...] = ()
    """Paths that conflict; they contain both sides between conflict markers."""
    failures: tuple[str, ...] = ()


class PhaseDelegated(Event, frozen=True, kw_only=True):
    """A run of another plan was requested for a phase."""

    kind: ClassVar[str] = "phase.delegated"
    phase: str
    plan: str


class PhaseReturned(Event, frozen=True, kw_only=True):
    """The run that a phase was delegated to ended, or its result is not proven on the target."""

    kind: ClassVar[str] = "phase.returned"
    phase: str
    state: str
    reason: str = ""


class PhaseProven(Event, frozen=True, kw_only=True):
    """A phase is proven and has a commit."""

    kind: ClassVar[str] = "phase.proven"
    phase: str
    commit: str
    waived: str | None = None
    corrected: str | None = None
    remarks: str | None = None
    sign_offs: int = 0
    """Number of its changes that a user has to sign off before it lands."""


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
    declined: bool = False
    """The user said no to it before, and has not asked for a landing since."""


class PicturesTaken(Event, frozen=True, kw_only=True):
    """Screenshots of the user interface were taken."""

    kind: ClassVar[str] = "pictures.taken"
    command: str
    outcome: Outcome
    why: str = ""
    tree: str = ""
    pictures: str = ""
    output: str | None = None
