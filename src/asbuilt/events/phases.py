"""What happens to the phases of a plan, and what a run prepares before the first."""

from __future__ import annotations

from typing import ClassVar

from asbuilt.events.event import Event, Outcome


class WorkspaceMade(Event, frozen=True, kw_only=True):
    """The workspace of the agents was made."""

    kind: ClassVar[str] = "workspace.made"
    lane: str = "main"


class TestsResolved(Event, frozen=True, kw_only=True):
    """It is known how the tests of the project run."""

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
    """A checkout was made ready."""

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
    """The tests have run on the base, before any work."""

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
    """A phase was frozen as the plan says it."""

    kind: ClassVar[str] = "phase.begun"
    phase: str
    intent: str | None = None
    text: str = ""


class PhaseProven(Event, frozen=True, kw_only=True):
    """A phase has all its proofs, and a commit that holds it."""

    kind: ClassVar[str] = "phase.proven"
    phase: str
    commit: str
    waived: str | None = None
    corrected: str | None = None
    remarks: str | None = None


class PhaseRechecked(Event, frozen=True, kw_only=True):
    """The checks of a phase have run on what is there now."""

    kind: ClassVar[str] = "phase.rechecked"
    phase: str
    outcome: Outcome
    failures: tuple[str, ...] = ()
    evidence: str | None = None


class PhaseMarked(Event, frozen=True, kw_only=True):
    """A person marked a phase, or an item of one."""

    kind: ClassVar[str] = "phase.marked"
    phase: str
    status: str = ""
    item: int | str | None = None
    by: str = "hand"


class SignOffWanted(Event, frozen=True, kw_only=True):
    """Something about a proven phase has to be seen by a person before it lands."""

    kind: ClassVar[str] = "signoff.wanted"
    item: str
    phase: str
    question: str


class PicturesTaken(Event, frozen=True, kw_only=True):
    """Pictures were taken of what people see."""

    kind: ClassVar[str] = "pictures.taken"
    command: str
    outcome: Outcome
    why: str = ""
    tree: str = ""
    pictures: str = ""
    output: str | None = None
