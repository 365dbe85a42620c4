"""The contract between an adapter and its host: one coroutine, permission requests, a stream of events.

Rule: an adapter starts processes only through its seat, so that the host can end all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol

from msgspec import Struct

from asbuilt.lifecycle.run.agent_stops import ending_of

if TYPE_CHECKING:
    import asyncio

    from asbuilt.events.event import Cause
    from asbuilt.policy.roles import Kind
    from asbuilt.policy.sandbox.rules import Level
    from asbuilt.ports import Brief
    from asbuilt.proof.opinion import Opinion

TurnEnding = Literal["done", "failed", "crashed", "limited"]
"""Endings that an agent can reach without the host; the host decides all others."""
SAYS_CAP: Final = 400_000
"""Maximum number of characters kept of an answer."""


class Said(Struct, frozen=True, kw_only=True):
    """A message of the agent."""

    text: str


class Called(Struct, frozen=True, kw_only=True):
    """A tool call of the agent."""

    tool: str
    detail: str = ""


class Used(Struct, frozen=True, kw_only=True):
    """Usage since the agent's last report. If an agent reports totals, its adapter subtracts.

    None means unknown, not zero: a sum with an unknown part is unknown.
    """

    input_tokens: int | None = None
    """Includes cache reads and writes."""
    output_tokens: int | None = None
    cost_usd: float | None = None
    """At API prices."""


class Conversed(Struct, frozen=True, kw_only=True):
    """The agent's ID of its conversation, so that the next start can resume it."""

    session: str


class Noted(Struct, frozen=True, kw_only=True):
    """An observation about the agent: a retry, a warning, a dropped line."""

    text: str


class Modelled(Struct, frozen=True, kw_only=True):
    """The model that the agent reports; empty if it reports none."""

    model: str


Event = Said | Called | Used | Conversed | Noted | Modelled
Emit = Callable[[Event], None]
"""Records an event; every event resets the stall timer."""


class Call(Struct, frozen=True, kw_only=True):
    """A tool call that an agent requests permission for, translated by its adapter."""

    tool: str
    kind: Kind
    path: str | None = None
    """For `read` and `edit`: the file, absolute or relative to the workspace."""
    command: str | None = None
    cwd: str | None = None
    """For `run`: the working directory of the shell; None means the workspace."""


class Answer(Struct, frozen=True, kw_only=True):
    """The gate's answer; a call that it cannot judge is refused."""

    allowed: bool
    reason: str


class Gate(Protocol):
    """Answers permission requests from the snapshot taken when the attempt started."""

    async def ask(self, call: Call) -> Answer:
        """Allow or refuse a call; never raises, never waits for a user."""


class Turn(Struct, frozen=True, kw_only=True):
    """How the agent ended, without the host's intervention."""

    ending: TurnEnding
    reason: str
    cause: Cause | None = None
    """Why the agent stopped early, if known; the run's reaction depends on it."""
    says: str = ""
    verdict: Opinion | None = None
    resets_at: str | None = None
    """For a usage limit: when it resets, ISO 8601, if the agent reports it."""


def stopped(cause: Cause, reason: str, *, says: str = "", resets_at: str | None = None) -> Turn:
    """Return the turn of an agent that stopped early; the cause determines the ending."""
    return Turn(ending=ending_of(cause), reason=reason, cause=cause, says=says, resets_at=resets_at)


class Needs(Struct, frozen=True, kw_only=True):
    """What an agent needs of this machine besides its workspace and its program."""

    own: tuple[Path, ...] = ()
    """State of the agent outside the workspace that it may write, for example to renew its login."""
    sealed: tuple[Path, ...] = ()
    """Files in that state that could execute later; read-only."""
    hidden: tuple[Path, ...] = ()
    """Paths in that state that this attempt does not need, such as other conversations."""
    apart: tuple[Path, ...] = ()
    """Folders in that state that are private to the attempt: they contain only its own conversation."""
    readable: tuple[Path, ...] = ()
    programs: tuple[str, ...] = ()
    """Other programs that the agent starts."""
    hosts: tuple[str, ...] = ()
    """Hosts of its model and its login."""


NOTHING: Final = Needs()


class Sealing(Protocol):
    """Digests of files that could act later."""

    def put(self, folder: Path, names: tuple[str, ...], *, remade: tuple[str, ...] = ()) -> None:
        """Record the digests of `names` in a folder of the user, unless an earlier start did.

        `remade` lists what the agent's program itself writes there when it starts.
        """


class Seat(Protocol):
    """What the host provides to an adapter besides the brief."""

    @property
    def start(self) -> int:
        """Number of this start of the attempt, from 1."""

    @property
    def session(self) -> str | None:
        """The conversation of an earlier start, to resume."""

    @property
    def out(self) -> Path:
        """The folder that the agent and the host share; verdicts go there."""

    @property
    def home(self) -> Path:
        """The agent's HOME, kept between starts."""

    @property
    def person(self) -> Path:
        """The user's HOME, where an agent keeps its login; not the agent's HOME."""

    @property
    def level(self) -> Level:
        """The sandbox of every spawned process."""

    async def spawn(
        self,
        argv: tuple[str, ...],
        *,
        environment: Mapping[str, str] | None = None,
        needs: Needs = NOTHING,
    ) -> asyncio.subprocess.Process:
        """Start the agent in the sandbox, with pipes; the host drains and caps stderr."""

    @property
    def seals(self) -> Sealing:
        """Digests of the user's files; the attempt fails if they differ at its end."""

    def before_end(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Register a callback that asks the agent to end before TERM; it may still report its cost."""

    def last_words(self) -> str:
        """Return the end of the agent's stderr, for an error message."""


class Adapter(Protocol):
    """Drives an agent through an attempt."""

    async def drive(self, brief: Brief, gate: Gate, emit: Emit) -> Turn:
        """Run the agent until it ends; the host cancels this coroutine for every other ending."""
