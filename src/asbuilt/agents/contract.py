"""What an adapter and its host promise each other: one coroutine, questions to a gate, events as they come.

The one rule: an adapter starts processes only through its seat, so that the host can end every one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

from asbuilt.lifecycle.run.causes import ending_of

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from asbuilt.events.event import Cause
    from asbuilt.policy.roles import Kind
    from asbuilt.policy.sandbox.rules import Level
    from asbuilt.ports import Brief
    from asbuilt.proof.opinion import Opinion

TurnEnding = Literal["done", "failed", "crashed", "limited"]
"""How an agent can end by itself; the other endings are the host's to give."""
SAYS_CAP: Final = 400_000
"""Characters of an answer that are kept: more than anybody reads of a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The agent said something."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The agent used one of its tools."""

    tool: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What the agent has used since it last said so; an adapter whose agent reports sums subtracts.

    None is unknown, which is not nothing: a sum of which a part is unknown is unknown.
    """

    input_tokens: int | None = None
    """With what was read from a cache and written to one."""
    output_tokens: int | None = None
    cost_usd: float | None = None
    """At API prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversed:
    """The agent's own name for its conversation, so that the next start can take it up again."""

    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Something about the agent that it did not say itself: a retry, a warning, a dropped line."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Modelled:
    """The model that the agent reports to work with; empty: it reports none."""

    model: str


Event = Said | Called | Used | Conversed | Noted | Modelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call that an agent asks permission for, in our words; the adapter translates its own."""

    tool: str
    kind: Kind
    path: str | None = None
    """With `read` and `edit`: the file, absolute or from the workspace."""
    command: str | None = None
    cwd: str | None = None
    """With `run`: where the shell stands that runs it; None: in the workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The gate's answer; a question nobody can answer is refused."""

    allowed: bool
    reason: str


class Gate(Protocol):
    """Answers every permission question from the snapshot that the attempt was started with."""

    async def ask(self, call: Call) -> Answer:
        """Allow or refuse one call; never raises, never waits for a person."""


class Emit(Protocol):
    """Takes events; each one also says that the agent has not stalled."""

    def __call__(self, event: Event) -> None:
        """Record it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """How the agent ended by itself."""

    ending: TurnEnding
    reason: str
    cause: Cause | None = None
    """Why it stopped before its work was done, where that is known: what a run does depends on it."""
    says: str = ""
    verdict: Opinion | None = None
    resets_at: str | None = None
    """With a usage limit: when it opens again, ISO 8601, if the agent says so."""


def stopped(cause: Cause, reason: str, *, says: str = "", resets_at: str | None = None) -> Turn:
    """Give the turn of an agent that stopped before its work was done, with the ending that goes with it."""
    return Turn(ending=ending_of(cause), reason=reason, cause=cause, says=says, resets_at=resets_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What an agent needs of this machine besides its workspace and its program."""

    own: tuple[Path, ...] = ()
    """State of the agent elsewhere that it may write to: its login is renewed there."""
    sealed: tuple[Path, ...] = ()
    """What in it could execute later, read-only."""
    hidden: tuple[Path, ...] = ()
    """What in it is no business of this attempt's, such as other conversations."""
    apart: tuple[Path, ...] = ()
    """Folders in it that this attempt has for itself: its conversation, and no other, is there."""
    readable: tuple[Path, ...] = ()
    programs: tuple[str, ...] = ()
    """Other programs that it starts."""
    hosts: tuple[str, ...] = ()
    """Where its model is, and where its login is renewed."""


NOTHING: Final = Needs()


class Seat(Protocol):
    """What the host gives an adapter besides the brief."""

    @property
    def start(self) -> int:
        """Which start of the attempt this is, from 1."""

    @property
    def session(self) -> str | None:
        """The conversation of an earlier start, to be taken up again."""

    @property
    def out(self) -> Path:
        """The one folder that the agent and the host share: verdicts come through it."""

    @property
    def home(self) -> Path:
        """The agent's own HOME, kept between starts."""

    @property
    def person(self) -> Path:
        """The HOME of the user, where an agent keeps its login; the agent's own HOME is another."""

    @property
    def level(self) -> Level:
        """The ring that holds whatever is spawned."""

    async def spawn(
        self,
        argv: tuple[str, ...],
        *,
        environment: Mapping[str, str] | None = None,
        needs: Needs = NOTHING,
    ) -> asyncio.subprocess.Process:
        """Start the agent in the ring, with pipes; stderr is drained and capped by the host."""

    def seal(self, folder: Path, names: tuple[str, ...], *, remade: tuple[str, ...] = ()) -> None:
        """Have what is named in a folder of the user's compared when the attempt ends: a change fails it.

        `remade` is what the agent's program itself lays down there when it starts.
        """

    def before_end(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Say how the agent is asked to end, before it is made to: it may still tell what it cost."""

    def last_words(self) -> str:
        """Give the end of what the agent wrote to stderr, for a reason."""


class Adapter(Protocol):
    """Drives one agent through one attempt."""

    async def drive(self, brief: Brief, gate: Gate, emit: Emit) -> Turn:
        """Work until the agent ends by itself; the host cancels it for every other ending."""
