"""What agents did: attempts, verifiers, the trees that were kept and the checks of them."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, UnsetType

from asbuilt.events.event import Cause, Event, Failure, Outcome


class AttemptBegun(Event, frozen=True, kw_only=True):
    """An agent was given a brief, or a start of the same attempt goes on."""

    kind: ClassVar[str] = "attempt.begun"
    phase: str
    number: int
    role: str
    agent: str = ""
    agents: int | None = None
    """How many work side by side, in a stage of authoring."""
    before: str | None = None
    """Digest of what was around its workspace."""
    notes: int = 0
    """How many notes of people it was told."""


class Ended(Event, frozen=True, kw_only=True):
    """How an agent ended, and what it has used over all its starts."""

    ending: str
    reason: str = ""
    cause: Cause | None = None
    resets_at: str | None = None
    starts: int = 0
    attempt: str = ""
    cost_usd: float | None = None
    tokens: int | None = None
    # Of a process that did not end well.
    agent: str = ""
    command: str = ""
    folder: str = ""
    exit_code: int | None = None
    duration_s: float | None = None
    stderr: str | None = None


class AttemptEnded(Ended, frozen=True, kw_only=True):
    """An agent has ended."""

    kind: ClassVar[str] = "attempt.ended"
    phase: str
    number: int
    says: str = ""
    ring: str = ""
    refused: tuple[str, ...] = ()
    output: str | None = None
    """Digest of what was handed in, in a stage of authoring."""
    drift: str | None = None
    outside: str | None = None


class AttemptLost(Event, frozen=True, kw_only=True):
    """The files of an attempt are on a machine that is lost."""

    kind: ClassVar[str] = "attempt.lost"
    phase: str
    number: int
    reason: str


class AttemptLetGo(Event, frozen=True, kw_only=True):
    """The commit that kept an attempt was deleted, because its time is over."""

    kind: ClassVar[str] = "attempt.let_go"
    phase: str
    number: int
    commit: str


class TreeKept(Event, frozen=True, kw_only=True):
    """The files of an attempt were kept as a commit."""

    kind: ClassVar[str] = "tree.kept"
    phase: str
    number: int
    commit: str
    tree: str
    changed: bool


class TreeRefused(Event, frozen=True, kw_only=True):
    """The files of an attempt cannot be kept as they are."""

    kind: ClassVar[str] = "tree.refused"
    phase: str
    number: int
    reason: str


class ChecksDone(Event, frozen=True, kw_only=True):
    """The checks of an attempt have run."""

    kind: ClassVar[str] = "checks.done"
    phase: str
    number: int
    outcome: Outcome
    failures: tuple[str, ...] = ()
    evidence: str | None = None
    remarks: str | None = None
    inspected: str | None = None
    reused: tuple[str, ...] = ()
    unusable: bool = False


class VerifierBegun(Event, frozen=True, kw_only=True):
    """A second agent began to judge an attempt."""

    kind: ClassVar[str] = "verifier.begun"
    phase: str
    number: int
    agent: str = ""


class VerifierEnded(Ended, frozen=True, kw_only=True):
    """A verifier ended without a verdict."""

    kind: ClassVar[str] = "verifier.ended"
    phase: str
    number: int


class Judged(Event, frozen=True, kw_only=True):
    """What is left of a verifier's words, looked up in what was measured."""

    version: ClassVar[int] = 2
    outcome: Outcome
    failures: tuple[Failure, ...] = ()
    says: str = ""
    attempt: str = ""
    cost_usd: float | None = None
    tokens: int | None = None
    unproven: tuple[int, ...] = ()
    opinion: str | UnsetType | None = UNSET
    """Digest of what the verifier said; not set in journals that did not keep it."""
    items: str | None = None
    written: tuple[str, ...] = ()


class VerdictGiven(Judged, frozen=True, kw_only=True):
    """A verifier has judged an attempt."""

    kind: ClassVar[str] = "verdict.given"
    phase: str
    number: int


class DriftFound(Event, frozen=True, kw_only=True):
    """Numbers of the plan were measured, and some do not hold."""

    kind: ClassVar[str] = "drift.found"
    phase: str
    number: int
    numbers: str
    asks: tuple[tuple[int, int, bool, str], ...] = ()
    stops: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    far: int = 0


class TogetherDone(Event, frozen=True, kw_only=True):
    """All checks have run on everything that waits to be landed."""

    kind: ClassVar[str] = "together.done"
    outcome: Outcome
    failures: tuple[str, ...] = ()
    evidence: str | None = None
    reused: tuple[str, ...] = ()


class TogetherJudging(Event, frozen=True, kw_only=True):
    """A verifier began to judge everything that waits to be landed."""

    kind: ClassVar[str] = "together.judging"


class TogetherUnjudged(Ended, frozen=True, kw_only=True):
    """A verifier of everything ended without a verdict."""

    kind: ClassVar[str] = "together.unjudged"


class TogetherJudged(Judged, frozen=True, kw_only=True):
    """A verifier has judged everything that waits to be landed."""

    kind: ClassVar[str] = "together.judged"
