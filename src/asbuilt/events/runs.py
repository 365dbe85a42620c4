"""Events of a run as a whole: requested, started, waiting, taken over, ended."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar

from msgspec import field

from asbuilt.events.event import Event


class RunRequested(Event, frozen=True, kw_only=True):
    """A run of a plan was requested."""

    kind: ClassVar[str] = "run.requested"
    number: int
    mode: str = "phase"


class RunStarted(Event, frozen=True, kw_only=True):
    """A run read its plan and its repository, and started."""

    kind: ClassVar[str] = "run.started"
    elsewhere: ClassVar[str] = "outline"
    base: str
    ring: str = ""
    ring_agreed: bool = False
    branch_at: str | None = None
    of: str | None = None
    outline: str = ""
    revision: str | None = None
    intent: str | None = None
    author: tuple[str, str, str] | None = None
    session_id: str | None = None
    due: str | None = None
    left: tuple[str, ...] = ()
    """Workspaces that earlier runs of the plan left behind."""
    # Stored in the blob of `outline`.
    phases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    done: tuple[str, ...] = ()
    checked: bool = True
    unlanded: tuple[tuple[str, str, str], ...] = ()
    undoes: tuple[tuple[str, str, str, str], ...] = ()
    drops: tuple[tuple[str, str, str], ...] = ()
    carried: tuple[str, str, tuple[str, ...]] | None = None
    """Files of an earlier run that this one continues: phase, commit and failures."""
    beside: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """The same of further phases, which were worked on side by side."""
    alone: tuple[str, ...] = ()
    """Phases that run beside no other phase: they are delegated to another plan."""


class WaitReason(Enum):
    """What a run waits for."""

    ANSWER = "answer"
    """An answer to a question."""
    PAUSE = "pause"
    """A resume by the user who paused it."""
    CONVERSATION = "conversation"
    """A result from the conversation that authors the plan."""
    LIMIT = "limit"
    """The end of an agent's usage limit."""
    OVERLOAD = "overload"
    """The end of an overload of a model's servers."""
    WINDOW = "window"
    """The hours in which it may work."""
    CHECKS = "checks"
    """The end of a pull request's checks."""
    LANDING = "landing"
    """Its turn in the line of runs that land on its branch."""
    PLAN = "plan"
    """The end of the run that a phase is delegated to."""
    LANES = "lanes"
    """The phases that are worked on side by side."""
    TRANSIENT_ERROR = "trouble"
    """The next retry after a transient error."""


def with_advice(reason: str, following: str) -> str:
    """Return a reason and the next step in one line."""
    return f"{reason} Next: {following}" if following else reason


def reason_words(reason: str) -> str:
    """Return the reason of a stop or a pause; the user may have given none."""
    return reason or "asked for"


def end_words(state: str, reason: str) -> str:
    """Return the reason of a run's end."""
    return reason_words(reason) if state == "stopped" else reason


class RunParked(Event, frozen=True, kw_only=True):
    """A run waits."""

    kind: ClassVar[str] = "run.parked"
    version: ClassVar[int] = 2
    reason: WaitReason
    why: str
    """Description of the wait for the user."""
    until: str | None = None
    phase: str | None = None
    """The phase whose lane waits; None: the run itself."""


class RunEnded(Event, frozen=True, kw_only=True):
    """A run ended."""

    kind: ClassVar[str] = "run.ended"
    version: ClassVar[int] = 3
    state: str
    reason: str = ""
    """Empty also for a stop for which the user gave no reason."""
    next: str = ""
    """Next step for the user."""
    other: str = ""
    """An alternative to the next step."""
    code: int | None = None
    # Only if a command that could not run ended it.
    command: str = ""
    folder: str = ""
    exit_code: int | None = None
    duration_s: float | None = None
    output: str | None = None

    @property
    def words(self) -> str:
        """Return the reason and the next step."""
        return with_advice(end_words(self.state, self.reason), self.next)


class RunTakenOver(Event, frozen=True, kw_only=True):
    """Another worker took over a run."""

    kind: ClassVar[str] = "run.taken_over"
    lost: str | None = None
    by: str | None = None
    phase: str | None = None
    """The phase whose lane it took over; None: the run itself."""


class PauseAsked(Event, frozen=True, kw_only=True):
    """A user asked to pause a run."""

    kind: ClassVar[str] = "run.pause_asked"
    version: ClassVar[int] = 2
    reason: str = ""
    """Empty: the user gave none."""


class ResumeAsked(Event, frozen=True, kw_only=True):
    """A user asked to resume a paused run."""

    kind: ClassVar[str] = "run.resume_asked"


class RunHastened(Event, frozen=True, kw_only=True):
    """A user asked a waiting run to continue now."""

    kind: ClassVar[str] = "run.hastened"


class StopAsked(Event, frozen=True, kw_only=True):
    """A user asked to stop a run."""

    kind: ClassVar[str] = "run.stop_asked"
    version: ClassVar[int] = 2
    reason: str = ""
    """Empty: the user gave none."""


class TroubleMet(Event, frozen=True, kw_only=True):
    """A transient error interrupted a run; it is retried."""

    kind: ClassVar[str] = "trouble.met"
    version: ClassVar[int] = 2
    what: str
    next: str = ""
    """Next step for the user."""
    retry_at: str | None = None
    phase: str | None = None
    """The phase whose lane met it; None: the run itself."""

    @property
    def words(self) -> str:
        """Return the error and the next step."""
        return with_advice(self.what, self.next)


class JournalBehind(Event, frozen=True, kw_only=True):
    """The journal was restored to an earlier state than the engine's."""

    kind: ClassVar[str] = "journal.behind"


class SettingsChanged(Event, frozen=True, kw_only=True):
    """A user changed a setting of a run in progress."""

    kind: ClassVar[str] = "settings.changed"
    key: str
    before: Any = None
    after: Any = None
    revision: int = 0


class ClaimAcquired(Event, frozen=True, kw_only=True):
    """A run acquired exclusive ownership of its plan."""

    kind: ClassVar[str] = "claim.acquired"
    epoch: int
    mode: str = "phase"
    host: str = ""


class ClaimReleased(Event, frozen=True, kw_only=True):
    """A run released its plan."""

    kind: ClassVar[str] = "claim.released"
    epoch: int


class ClaimBroken(Event, frozen=True, kw_only=True):
    """A user broke a run's claim on its plan."""

    kind: ClassVar[str] = "claim.broken"
    epoch: int
    reason: str = ""


class AttentionCalled(Event, frozen=True, kw_only=True):
    """The user was notified."""

    kind: ClassVar[str] = "attention.called"
    way: str
    about: str


class ReportWritten(Event, frozen=True, kw_only=True):
    """The report of a run was written."""

    kind: ClassVar[str] = "report.written"
    report: str
