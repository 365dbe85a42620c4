"""An authoring session: its prompt, options and outputs, and its form as plain values.

Rule: `read_session` raises nothing. A state that cannot be read becomes a warning.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct, ValidationError, structs, to_builtins
from msgspec.structs import replace

from asbuilt.events.convert import convert
from asbuilt.lifecycle.authoring.options import Options, choose
from asbuilt.lifecycle.authoring.stages import Stage
from asbuilt.lifecycle.flaws import Flaw

ExitReason = Literal["completed", "max_phases_reached"]
PLANS: Final = (Stage.DRAFT, Stage.REVISE, Stage.ITERATE)
"""The stages whose output is a plan."""


class Record(NamedTuple):
    """An accepted output."""

    stage: Stage
    round: int
    """Counted from 1 among the outputs of its stage."""
    text: str

    @property
    def name(self) -> str:
        """Return its address: `understand-1`, `critique-2`."""
        return f"{self.stage}-{self.round}"


class Session(Struct, frozen=True, kw_only=True):
    """State of an authoring session; decides its next move."""

    prompt: str
    """Verbatim; part of the prompt of every stage."""
    options: Options
    started_at: str
    records: tuple[Record, ...] = ()
    refused: tuple[tuple[Flaw, ...], ...] = ()
    """Refusals of the stage that is due, in order."""

    @property
    def index(self) -> int:
        """Count the finished stages."""
        return len(self.records)

    @property
    def stage(self) -> Stage:
        """Return the stage that is due: iterate after the end of the sequence."""
        stages = self.options.stages
        return stages[self.index] if self.index < len(stages) else Stage.ITERATE

    @property
    def round(self) -> int:
        """Return the round of the stage that is due, from 1."""
        return 1 + sum(record.stage is self.stage for record in self.records)

    @property
    def is_final(self) -> bool:
        """Return whether the stage that is due may finish the session."""
        return self.stage is Stage.ITERATE or (
            self.stage is Stage.REVISE and self.index == len(self.options.stages) - 1
        )

    @property
    def plan(self) -> str:
        """Return the current plan; empty before the first."""
        return next((record.text for record in reversed(self.records) if record.stage in PLANS), "")

    def after(self, record: Record) -> Session:
        """Return the session with another accepted output."""
        return replace(self, records=(*self.records, record), refused=())


class Unreadable(NamedTuple):
    """A state that cannot be resumed; the run's options keep it for inspection."""

    warning: str


def start(prompt: str, options: Options | tuple[Flaw, ...], *, started_at: str) -> Session | tuple[Flaw, ...]:
    """Start a session, or return the flaws: no prompt, or bad options."""
    flaws = [] if isinstance(options, Options) else list(options)
    if not prompt.strip():
        flaws.append(
            Flaw("prompt", "no words", "what you want, in a sentence", 'asbuilt author "limit the API"')
        )
    if flaws or not isinstance(options, Options):
        return tuple(flaws)
    return Session(prompt=prompt, options=options, started_at=started_at)


def state_of(session: Session) -> dict[str, Any]:
    """Convert a session to plain values."""
    chosen: dict[str, Any] = to_builtins(session.options)
    return {
        "active": True,
        "phase": str(session.stage),
        "phase_index": min(session.index, max(len(session.options.stages) - 1, 0)),
        **{name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()},
        "started_at": session.started_at,
        "prompt": session.prompt,
    }


class _Begun(Struct):
    """A session besides its options; the journal has its outputs."""

    started_at: str
    prompt: str


def read_session(value: object) -> Session | Unreadable:
    """Read a session that has just begun, from plain values of any shape."""
    try:
        options, begun = convert(value, Options), convert(value, _Begun)
    except ValidationError as error:
        return Unreadable(f"this authoring session cannot be read: {error}")
    chosen = structs.asdict(options)
    session = start(begun.prompt, choose(phases=chosen.pop("stages"), **chosen), started_at=begun.started_at)
    if isinstance(session, Session):
        return session
    return Unreadable(f"this authoring session cannot be read: {session[0].what}: {session[0].found}")
