"""Work of agents: attempts, verifiers, the trees that were kept, and their checks."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, UnsetType

from asbuilt.events.event import Cause, Event, Failure, OfAttempt, Outcome


class AttemptBegun(OfAttempt, frozen=True, kw_only=True):
    """An agent got a brief, or another start of the same attempt."""

    kind: ClassVar[str] = "attempt.begun"
    role: str
    agent: str = ""
    agents: int | None = None
    """Number of agents that work in parallel, in a stage of authoring."""
    before: str | None = None
    """Digest of the state outside its workspace, to detect changes there."""
    notes: int = 0
    """Number of user notes in its brief."""


class Ended(Event, frozen=True, kw_only=True):
    """How an agent ended, and its usage over all its starts."""

    ending: str
    reason: str = ""
    cause: Cause | None = None
    resets_at: str | None = None
    starts: int = 0
    attempt: str = ""
    cost_usd: float | None = None
    tokens: int | None = None
    # Only for a process that failed.
    agent: str = ""
    command: str = ""
    folder: str = ""
    exit_code: int | None = None
    duration_s: float | None = None
    stderr: str | None = None


class AttemptEnded(Ended, frozen=True, kw_only=True):
    """An agent ended."""

    kind: ClassVar[str] = "attempt.ended"
    phase: str
    number: int
    says: str = ""
    ring: str = ""
    refused: tuple[str, ...] = ()
    output: str | None = None
    """Digest of the submitted result, in a stage of authoring."""
    drift: str | None = None
    outside: str | None = None


class AttemptLost(OfAttempt, frozen=True, kw_only=True):
    """The files of an attempt are lost: they were on another machine."""

    kind: ClassVar[str] = "attempt.lost"
    reason: str


class AttemptLetGo(OfAttempt, frozen=True, kw_only=True):
    """The snapshot of an attempt was deleted, because its retention time is over."""

    kind: ClassVar[str] = "attempt.let_go"
    commit: str


class TreeKept(OfAttempt, frozen=True, kw_only=True):
    """The files of an attempt were kept as a commit."""

    kind: ClassVar[str] = "tree.kept"
    commit: str
    tree: str
    changed: bool


class TreeRefused(OfAttempt, frozen=True, kw_only=True):
    """The files of an attempt cannot be kept as they are."""

    kind: ClassVar[str] = "tree.refused"
    reason: str


class ChecksDone(OfAttempt, frozen=True, kw_only=True):
    """The checks of an attempt ran."""

    kind: ClassVar[str] = "checks.done"
    outcome: Outcome
    failures: tuple[str, ...] = ()
    evidence: str | None = None
    remarks: str | None = None
    inspected: str | None = None
    reused: tuple[str, ...] = ()
    unusable: bool = False


class VerifierBegun(OfAttempt, frozen=True, kw_only=True):
    """A verifier started to judge an attempt."""

    kind: ClassVar[str] = "verifier.begun"
    agent: str = ""
    role: str = "verify"
    """`verify`, or `test` for a tester that drives the interface."""


class VerifierEnded(Ended, frozen=True, kw_only=True):
    """A verifier ended without a verdict."""

    kind: ClassVar[str] = "verifier.ended"
    phase: str
    number: int


class Judged(Event, frozen=True, kw_only=True):
    """A verifier's opinion after it was checked against the evidence."""

    version: ClassVar[int] = 2
    outcome: Outcome
    failures: tuple[Failure, ...] = ()
    says: str = ""
    attempt: str = ""
    cost_usd: float | None = None
    tokens: int | None = None
    unproven: tuple[int, ...] = ()
    opinion: str | UnsetType | None = UNSET
    """Digest of the verifier's opinion; unset in journals that did not store it."""
    items: str | None = None
    written: tuple[str, ...] = ()

    @property
    def said(self) -> tuple[Failure, ...]:
        """What the verifier itself calls unproven."""
        return tuple(failure for failure in self.failures if failure not in self.rejected)

    @property
    def rejected(self) -> tuple[Failure, ...]:
        """What asbuilt found wrong with the verdict, whatever the verifier says."""
        return tuple(failure for failure in self.failures if failure.is_fault or failure.is_rejected)


class VerdictGiven(Judged, frozen=True, kw_only=True):
    """A verifier judged an attempt."""

    kind: ClassVar[str] = "verdict.given"
    phase: str
    number: int
    role: str = "verify"
    evidence: str | None = None
    """Digest of the tester's tries, as asbuilt repeated them."""


class DriftFound(OfAttempt, frozen=True, kw_only=True):
    """Numbers in the plan were measured, and some are wrong."""

    kind: ClassVar[str] = "drift.found"
    numbers: str
    asks: tuple[tuple[int, int, bool, str], ...] = ()
    stops: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    far: int = 0


class TogetherDone(Event, frozen=True, kw_only=True):
    """All checks ran on everything that waits to be landed."""

    kind: ClassVar[str] = "together.done"
    outcome: Outcome
    failures: tuple[str, ...] = ()
    evidence: str | None = None
    reused: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    """Phases whose own checks did not pass."""


class TogetherJudging(Event, frozen=True, kw_only=True):
    """A verifier started to judge everything that waits to be landed."""

    kind: ClassVar[str] = "together.judging"


class TogetherUnjudged(Ended, frozen=True, kw_only=True):
    """A verifier of everything that waits to be landed ended without a verdict."""

    kind: ClassVar[str] = "together.unjudged"


class TogetherJudged(Judged, frozen=True, kw_only=True):
    """A verifier judged everything that waits to be landed."""

    kind: ClassVar[str] = "together.judged"
