"""What happens to a run as a whole: it is asked for, begins, waits, is moved and ends."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar

from msgspec import field

from asbuilt.events.event import Event


class RunRequested(Event, frozen=True, kw_only=True):
    """Somebody wants a run of a plan."""

    kind: ClassVar[str] = "run.requested"
    number: int
    mode: str = "phase"


class RunStarted(Event, frozen=True, kw_only=True):
    """A run has looked at its plan and its repository."""

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
    # In the blob of `outline`.
    phases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    done: tuple[str, ...] = ()
    checked: bool = True
    unlanded: tuple[tuple[str, str, str], ...] = ()
    undoes: tuple[tuple[str, str, str, str], ...] = ()
    drops: tuple[tuple[str, str, str], ...] = ()
    carried: tuple[str, str, tuple[str, ...]] | None = None


class WaitReason(Enum):
    """What a run waits for."""

    ANSWER = "answer"
    """Somebody answers a question."""
    PAUSE = "pause"
    """Somebody resumes what they paused."""
    CONVERSATION = "conversation"
    """The conversation that authors it hands something in."""
    LIMIT = "limit"
    """A usage limit of an agent is over."""
    OVERLOAD = "overload"
    """A model's servers have room again."""
    WINDOW = "window"
    """The hours begin in which it may work."""
    CHECKS = "checks"
    """The checks of a pull request end."""
    TROUBLE = "trouble"
    """Something outside is tried again."""


def with_advice(reason: str, following: str) -> str:
    """Word a reason together with what to do next, in one line."""
    return f"{reason} Next: {following}" if following else reason


class RunParked(Event, frozen=True, kw_only=True):
    """A run waits."""

    kind: ClassVar[str] = "run.parked"
    version: ClassVar[int] = 2
    reason: WaitReason
    why: str
    """The same for people, with what exactly it is."""
    until: str | None = None


class RunEnded(Event, frozen=True, kw_only=True):
    """A run is over."""

    kind: ClassVar[str] = "run.ended"
    version: ClassVar[int] = 2
    state: str
    reason: str = ""
    next: str = ""
    """What the user can do about it."""
    code: int | None = None
    # Of a command that did not run, where that ended it.
    command: str = ""
    folder: str = ""
    exit_code: int | None = None
    duration_s: float | None = None
    output: str | None = None

    @property
    def words(self) -> str:
        """Word the reason together with what to do next."""
        return with_advice(self.reason, self.next)


class RunTakenOver(Event, frozen=True, kw_only=True):
    """Another worker goes on with a run."""

    kind: ClassVar[str] = "run.taken_over"
    lost: str | None = None
    by: str | None = None


class PauseAsked(Event, frozen=True, kw_only=True):
    """A person wants a run to wait."""

    kind: ClassVar[str] = "run.pause_asked"
    reason: str = ""


class ResumeAsked(Event, frozen=True, kw_only=True):
    """A person wants a run to go on."""

    kind: ClassVar[str] = "run.resume_asked"


class RunHastened(Event, frozen=True, kw_only=True):
    """A person wants a run to go on now, whatever it waits for."""

    kind: ClassVar[str] = "run.hastened"


class StopAsked(Event, frozen=True, kw_only=True):
    """A person wants a run to end."""

    kind: ClassVar[str] = "run.stop_asked"
    reason: str = ""


class TroubleMet(Event, frozen=True, kw_only=True):
    """Something outside kept a run from going on; it is tried again."""

    kind: ClassVar[str] = "trouble.met"
    version: ClassVar[int] = 2
    what: str
    next: str = ""
    """What the user can do about it."""
    retry_at: str | None = None

    @property
    def words(self) -> str:
        """Word it together with what to do next."""
        return with_advice(self.what, self.next)


class JournalBehind(Event, frozen=True, kw_only=True):
    """The journal was put back to an earlier time than the engine's."""

    kind: ClassVar[str] = "journal.behind"


class SettingsChanged(Event, frozen=True, kw_only=True):
    """A person changed a setting of a run that goes on."""

    kind: ClassVar[str] = "settings.changed"
    key: str
    before: Any = None
    after: Any = None
    revision: int = 0


class ClaimAcquired(Event, frozen=True, kw_only=True):
    """A run has its plan for itself."""

    kind: ClassVar[str] = "claim.acquired"
    epoch: int
    mode: str = "phase"
    host: str = ""


class ClaimReleased(Event, frozen=True, kw_only=True):
    """A run released its plan."""

    kind: ClassVar[str] = "claim.released"
    epoch: int


class ClaimBroken(Event, frozen=True, kw_only=True):
    """A person took a plan from a run."""

    kind: ClassVar[str] = "claim.broken"
    epoch: int
    reason: str = ""


class AttentionCalled(Event, frozen=True, kw_only=True):
    """A person was called."""

    kind: ClassVar[str] = "attention.called"
    way: str
    about: str


class ReportWritten(Event, frozen=True, kw_only=True):
    """The report of a run was written."""

    kind: ClassVar[str] = "report.written"
    report: str
