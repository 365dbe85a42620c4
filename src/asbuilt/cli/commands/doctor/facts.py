"""What the probes find, as plain values. Its one rule: a fact is what was seen, never what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asbuilt.agents.sandbox.unavailable import Refusal
    from asbuilt.events.event import Outcome
    from asbuilt.journal.notices import Unheard
    from asbuilt.policy.sandbox.rules import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What a part of asbuilt itself refused, in its own words."""

    what: str
    why: str
    next_step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFacts:
    """The user's git, and the repository around the start folder."""

    version: str | None
    """None: there is no git on PATH."""
    repository: str | None = None
    branch: str | None = None
    has_commits: bool = False
    changed: int = 0
    """Files that differ from the last commit, untracked ones with them."""
    operations: tuple[str, ...] = ()
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent's program that is on PATH."""

    name: str
    version: str | None
    """None: it did not say one in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsFacts:
    """Which agents are here, and which ones this version drives."""

    looked_for: tuple[str, ...]
    found: tuple[Agent, ...]
    driven: tuple[str, ...]
    lacking: tuple[tuple[str, str, str], ...] = ()
    """Agents that only an adapter is missing for: the agent's program, the adapter, its install command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFacts:
    """The ring that has just refused a write and a connection, or why none did."""

    level: Level
    version: str
    refusals: tuple[Refusal, ...]
    required: bool

    @property
    def holds(self) -> bool:
        """Whether it holds agents and checks; Landlock holds planning commands only."""
        return self.level in ("bwrap", "seatbelt")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachFacts:
    """What a process in the sandbox has just read and reached."""

    logins: int
    """Files in the home that sign in somewhere."""
    readable: int
    """How many of them could be read."""
    refuses: bool
    """Whether a host that is not listed was refused."""
    network: str
    setup: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFacts:
    """The hook that Claude Code is told to run, and what became of a known-bad call that it was given."""

    installed: bool
    enabled: bool = False
    """The user's settings name the plugin, and have it on."""
    version: str = ""
    """Of the plugin as it was written."""
    refused: bool = False
    took_ms: float = 0.0
    said: str = ""
    """What the hook said instead of a refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What a run of the tests on a clean checkout showed."""

    outcome: Outcome
    why: str
    failing: int = 0
    """Tests that fail before any run, as they do for a run's baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFacts:
    """The command that runs the tests, who set it, and what it showed if it was run."""

    command: str
    origin: str
    tried: Tried | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFacts:
    """Where the journal is kept, or would be."""

    database: str
    """`SQLite` or `Postgres`."""
    free_bytes: int | None
    """On the state folder's disk; None where it cannot be told."""
    schema: int | None
    """None: there is no journal yet."""
    known_schema: int
    """The newest that this version writes."""
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFacts:
    """The one worker of this user."""

    running: bool
    pid: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeFacts:
    """Where pull requests would be opened, and by what."""

    wanted: bool
    """The settings say that work lands by pull request."""
    host: str | None = None
    """None: the remote leads to none that is known."""
    version: str | None = None
    """Of gh; None: it did not say one, or is not here."""
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerFacts:
    """What the system does when nobody touches it."""

    sleeps: bool
    told_by: str
    held_by: str | None = None
    """The program that keeps it awake while an agent works, tried just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockFacts:
    """How far the clock is from other witnesses of time, in seconds."""

    ahead_of_disk_s: float
    """Against the time that the disk gives a new file."""
    behind_us_s: float
    """How long before asbuilt was installed the clock says it is."""
    jumped_s: float
    """How far it moved against the monotonic clock while the doctor looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LooseFacts:
    """What others on this machine may read of the user's settings."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that was looked at. None: it cannot be told here, and has no row."""

    git: GitFacts
    settings: tuple[Trouble, ...]
    agents: AgentsFacts
    sandbox: SandboxFacts
    reach: ReachFacts | None = None
    gate: GateFacts | None
    tests: SuiteFacts
    store: StoreFacts
    worker: WorkerFacts
    power: PowerFacts | None
    clock: ClockFacts | None
    forge: ForgeFacts | None = None
    loose: LooseFacts | None = None
    unheard: tuple[Unheard, ...] = ()
    """The ways to the user whose last answer was none."""
