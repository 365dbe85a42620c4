"""Protocols that flows depend on, and the plain values that pass through them.

Rule: every call can be repeated after a crash. An attempt or a forge call first checks whether it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, field

from asbuilt.events.options import AgentProgram, Network
from asbuilt.lifecycle.limits import OVERALL_S, STALL_S

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.events.event import Cause
    from asbuilt.lifecycle.notify import Message
    from asbuilt.policy.roles import Role
    from asbuilt.policy.sandbox.rules import Level, Overlay, Placed
    from asbuilt.policy.sandbox.services import Service
    from asbuilt.proof.opinion import Opinion

JUDGES: tuple[Role, ...] = ("verify", "test")
"""Roles that submit a verdict and change nothing."""
Ending = Literal["done", "failed", "stalled", "timed_out", "cancelled", "crashed", "limited", "abandoned"]


class Opened(Struct, frozen=True, kw_only=True):
    """What the user opens in an agent's sandbox."""

    network: Network = "list"
    """Reachable hosts: those of its model and `hosts`, all, or none."""
    hosts: tuple[str, ...] = ()
    """Hosts besides its model's."""
    readable: tuple[str, ...] = ()
    """Paths besides its workspace and the toolchains; `~` is the user's home."""

    def paths(self, home: Path) -> tuple[str, ...]:
        """Return the readable paths, with `~` expanded."""
        return tuple(f"{home}{path[1:]}" if path.startswith("~/") else path for path in self.readable)


class Brief(Struct, frozen=True, kw_only=True):
    """The task of an attempt, frozen: the same for every start."""

    attempt: str
    """ID in folders and refs: `<run>.<phase>.<number>`; `v` after the number marks a verifier."""
    role: Role
    agent: str
    """The agent's name in the settings, for example `claude`."""
    program: AgentProgram = AgentProgram()
    workspace: Path
    writable: bool
    """False: the workspace is mounted read-only, as for a verifier."""
    phase: str
    title: str
    text: str = ""
    """The phase's section, byte for byte (decoded so that any byte survives)."""
    intent: str = ""
    items: tuple[str, ...] = ()
    """Work items and criteria, in order; a verdict refers to them by number, from 1."""
    ask: str = ""
    """For a stage of authoring: the task, written by asbuilt."""
    told: tuple[tuple[str, str], ...] = ()
    """For a stage of authoring: texts by others, each with a name."""
    tests: str | None = None
    """The test command as a literal, or None when the project has no tests."""
    failures: tuple[str, ...] = ()
    """The failures that a fix has to resolve, as reported."""
    notes: tuple[str, ...] = ()
    """Notes by the user (`asbuilt run -m`); they change no item."""
    base: str = ""
    """For a verifier: the commit that the work started from; the verdict is about the difference."""
    changed: tuple[str, ...] = ()
    """For a verifier: files added or changed since, which it can cite with a line."""
    removed: tuple[str, ...] = ()
    """For a verifier: files removed since, which it can cite as removed."""
    shown: tuple[str, ...] = ()
    """For a verifier: checks that asbuilt ran and that passed, by the text to cite."""
    services: tuple[tuple[str, tuple[str, ...], int], ...] = ()
    """For a tester: services that run beside it, each with its name, command line and port."""
    unseen: tuple[str, ...] = ()
    """For a verifier: new code that no test runs, or whose mutation no test detects, with its location."""
    stall_s: int = STALL_S
    overall_s: int = OVERALL_S
    protected: tuple[Path, ...] = ()
    """Read-only paths in the workspace: the plan's file, agents' settings. `.git` always is."""
    ring_required: bool = True
    """False: the user accepted an agent without a sandbox; the result records it."""
    opened: Opened = Opened()
    results: Path | None = None
    """The results of setup, for the agent to run tests; None if there are none."""
    script: Path | None = None
    """For the scripted agent: its script."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of the user's environment that the agent gets; no others."""


class Result(Struct, frozen=True, kw_only=True):
    """The result of an attempt's start, written once."""

    ending: Ending
    reason: str
    cause: Cause | None = None
    """Why the agent stopped early, if it reported that; `lifecycle.run.agent_stops` decides what follows."""
    says: str = ""
    """The agent's last message: a claim, never a proof."""
    verdict: Opinion | None = None
    """From a verifier: its verdict on every item, with citations; None if it submitted none."""
    tries: tuple[tuple[str, ...], ...] = ()
    """From a tester: how it drove the interface, the arguments of each `drive.py`."""
    refused: tuple[str, ...] = ()
    """Hosts that the sandbox refused, each with the reason."""
    drift: tuple[str, ...] = ()
    """All lines that start with `PLAN-TEXT-DRIFT:`; not yet judged."""
    session: str | None = None
    """The agent's ID of its conversation."""
    resets_at: str | None = None
    """With `limited`: when the usage limit resets, UTC ISO 8601."""
    tool_calls: int = 0
    cost_usd: float | None = None
    """At API prices, over all starts; None means unknown, not zero. The same holds for the tokens."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_s: float = 0.0
    starts: int = 1
    ring: str = "none"
    exit_code: int | None = None
    """Exit code of an agent that failed on its own, as in a shell; None if unknown."""
    stderr: str = ""
    """The end of a failed agent's stderr."""

    @property
    def tokens(self) -> int | None:
        """Total tokens of all starts; None if unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


class Attempts(Protocol):
    """Agents at work outside this process; they keep running when it dies."""

    def start(self, brief: Brief, *, after: int = 0) -> None:
        """Start the attempt; a no-op when it is running or has ended.

        A result of start `after` or earlier does not count as an end: a new start continues from there.
        """

    def result(self, attempt: str) -> Result | None:
        """Return the result, or None while there is none."""

    def written(self, attempt: str) -> bytes | None:
        """Return the result as its host wrote it, for another machine; None while there is none."""

    def adopt(self, attempt: str, data: bytes) -> None:
        """Take a result that a host on another machine wrote, unless there is a newer one."""

    def heartbeat(self, attempt: str) -> None:
        """Write a heartbeat: a worker still waits for the attempt."""

    def alive(self, attempt: str) -> bool:
        """Return whether the host process is running."""

    def cancel(self, attempt: str) -> None:
        """Request the end of the attempt: its host sends TERM to the whole tree, and KILL after 10 s."""

    def starts(self, attempt: str) -> int:
        """Count the starts; more than one after a crash or a limit."""

    def events(self, attempt: str, after: int = 0) -> tuple[list[dict[str, object]], int]:
        """Read the events from offset `after`; return them and the next offset."""

    def last_activity(self, attempt: str) -> datetime | None:
        """Return when the agent last produced an event, for display; the host enforces the limits."""


class Workspace(Struct, frozen=True, kw_only=True):
    """A checkout of its own, detached and locked."""

    path: Path
    git_dir: Path
    """Its private git folder; git must never discover one inside a workspace."""
    common: Path


class Kept(Struct, frozen=True, kw_only=True):
    """An attempt's tree, saved under a ref before anything else changes it."""

    commit: str
    tree: str
    ref: str
    ignored: tuple[tuple[str, int], ...]
    """Ignored files by name and size; they are not saved."""


class Command(Struct, frozen=True, kw_only=True):
    """A command of asbuilt's own to run in a checkout, inside the sandbox."""

    argv: tuple[str, ...]
    cwd: Path
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    """Readable folders besides the system's."""
    hidden: tuple[Path, ...] = ()
    home: Path | None = None
    """Its HOME, to pass files in or out; None: a new, empty one."""
    network: Network = "none"
    """list: the registries of this machine's package tools, and `hosts`."""
    hosts: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    placed: tuple[Placed, ...] = ()
    """Folders at other paths inside; `cwd` and `home` are then paths inside. Only where `can_place`."""
    overlays: tuple[Overlay, ...] = ()
    """Overlays to mount before the command starts. Only where `can_overlay`."""
    services: tuple[Service, ...] = ()
    """Programs that run beside it. Only where `can_place`: elsewhere it has no loopback of its own."""
    as_user: bool = False
    """Run with a user ID other than 0 even as root: databases refuse root. Only where `can_place`."""
    timeout_s: int = 1800
    output_cap: int = 8_000_000


class Ended(Struct, frozen=True, kw_only=True):
    """The outcome of a command."""

    exit_code: int | None
    """None when it was ended by a limit."""
    output: bytes
    """stdout and stderr interleaved, cut in the middle above the cap."""
    truncated: bool
    duration_s: float
    sandbox_level: str


class Attention(Protocol):
    """A channel that notifies a user who is not watching."""

    @property
    def way(self) -> str:
        """The channel's name, for example `desktop`."""

    def call(self, message: Message) -> str | None:
        """Send a message; return an error message, or None on success. A failure never stops a run."""


class Processes(Protocol):
    """Runs asbuilt's own commands in the sandbox."""

    def run(self, command: Command) -> Ended:
        """Run a command until it exits or times out; leaves no process behind."""

    def ending(self, when: Callable[[], bool], /) -> Processes:
        """Return a copy whose commands end with `CommandStopped` as soon as `when()` is true."""

    @property
    def level(self) -> Level:
        """The sandbox in use, as probed."""

    @property
    def can_place(self) -> bool:
        """Whether a folder can be mounted at another path inside."""

    def can_overlay(self, folder: Path) -> bool:
        """Return whether overlays work on a folder's file system, by trying one there."""


class Redrafting(Protocol):
    """Rewrites a plan: an agent, or a user with an editor or a file."""

    @property
    def by(self) -> str:
        """The author, as drafts name it."""

    def redraft(self, text: bytes, change: str) -> bytes:
        """Return the whole new plan; finished work may be left out, and is kept in any case."""
