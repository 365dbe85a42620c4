"""Facts that the probes find, as plain values. Rule: a fact is what was observed, not a judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from asbuilt.agents.sandbox.unavailable import Refusal
    from asbuilt.events.event import Outcome
    from asbuilt.journal.notifications import Undelivered
    from asbuilt.policy.sandbox.rules import Level


class ErrorFacts(Struct, frozen=True, kw_only=True):
    """An error of asbuilt, with its message."""

    what: str
    why: str
    next_step: str


class GitFacts(Struct, frozen=True, kw_only=True):
    """The user's git, and the repository around the start folder."""

    version: str | None
    """None: no git on PATH."""
    repository: str | None = None
    branch: str | None = None
    has_commits: bool = False
    first_commit: str = ""
    """The command that makes the first commit, if there is none."""
    changed: int = 0
    """Files that differ from the last commit, including untracked files."""
    operations: tuple[str, ...] = ()
    error: ErrorFacts | None = field(default=None, name="trouble")


class Agent(Struct, frozen=True, kw_only=True):
    """An agent's program on PATH."""

    name: str
    version: str | None
    """None: the program printed none in time."""


class AgentsFacts(Struct, frozen=True, kw_only=True):
    """The agents on PATH, and those that this version supports."""

    looked_for: tuple[str, ...]
    found: tuple[Agent, ...]
    driven: tuple[str, ...]
    lacking: tuple[tuple[str, str, str], ...] = ()
    """Agents that lack only an adapter: the agent's program, the adapter, its install command."""


class SandboxFacts(Struct, frozen=True, kw_only=True):
    """The sandbox that has just refused a write and a connection, or why none did."""

    level: Level
    version: str
    refusals: tuple[Refusal, ...]
    required: bool

    @property
    def holds(self) -> bool:
        """Whether it confines agents and checks; Landlock confines only planning commands."""
        return self.level in ("bwrap", "seatbelt")


class ReachFacts(Struct, frozen=True, kw_only=True):
    """What a process in the sandbox could just read and connect to."""

    logins: int
    """Number of credential files in the home folder."""
    readable: int
    """Number of those files that could be read."""
    refuses: bool
    """Whether a host that is not on the list was refused."""
    network: str
    setup: str


class GateFacts(Struct, frozen=True, kw_only=True):
    """The hook that Claude Code runs, and its answer to a known-bad call."""

    installed: bool
    enabled: bool = False
    """Whether the user's settings name the plugin and enable it."""
    version: str = ""
    """Version of the installed plugin."""
    refused: bool = False
    took_ms: float = 0.0
    output: str = field(default="", name="said")
    """The last line of the hook's output."""


class Tried(Struct, frozen=True, kw_only=True):
    """The result of the tests on a clean checkout."""

    outcome: Outcome
    why: str
    failing: int = 0
    """Number of failing tests, as in a run's baseline."""
    is_red: bool = False
    """Whether every test fails."""
    missing: str = ""
    """The program that is not installed."""
    in_setup: bool = False
    """Whether the setup failed, so that no test ran."""
    none_yet: bool = False
    """Whether no test ran because there are no test files."""


class SuiteFacts(Struct, frozen=True, kw_only=True):
    """The test command, who set it, and its result if it was run."""

    command: str
    origin: str
    setup_origin: str = ""
    """Who set the setup; empty: asbuilt found it."""
    several: str = ""
    """The suites of `checks.suites`, which take the place of one command."""
    absent: str = ""
    """The program of the command, if it is not on PATH; a setup may still install it."""
    tried: Tried | None = None


class StoreFacts(Struct, frozen=True, kw_only=True):
    """Where the journal is, or would be."""

    database: str
    """`SQLite` or `Postgres`."""
    free_bytes: int | None
    """On the state folder's disk; None if unknown."""
    schema: int | None
    """None: no journal yet."""
    known_schema: int
    """The newest schema of this version."""
    error: ErrorFacts | None = field(default=None, name="trouble")


class WorkerFacts(Struct, frozen=True, kw_only=True):
    """The worker of this user."""

    running: bool
    pid: int | None = None


class ForgeFacts(Struct, frozen=True, kw_only=True):
    """Where and with which program pull requests would be opened."""

    wanted: bool
    """Whether the settings select landing by pull request."""
    host: str | None = None
    """None: the remote is on no known forge."""
    version: str | None = None
    """Version of gh; None: not installed, or none printed."""
    error: ErrorFacts | None = field(default=None, name="trouble")


class PowerFacts(Struct, frozen=True, kw_only=True):
    """What the system does when it is idle."""

    sleeps: bool
    source: str = field(name="told_by")
    held_by: str | None = None
    """The program that keeps the machine awake while an agent works, just tested."""


class ClockFacts(Struct, frozen=True, kw_only=True):
    """How far the clock differs from other sources of time, in seconds."""

    ahead_of_disk_s: float
    """Against the timestamp that the disk gives a new file."""
    behind_us_s: float
    """How far the clock is before the time when asbuilt was installed."""
    jumped_s: float
    """How far it moved against the monotonic clock during the probes."""


class LooseFacts(Struct, frozen=True, kw_only=True):
    """Settings files that other users of this machine can read."""

    paths: tuple[str, ...]


class FleetFacts(Struct, frozen=True, kw_only=True):
    """What workers on a shared database need to continue each other's runs."""

    labels: tuple[str, ...] | None = None
    """Labels of this machine's worker; None: it has not joined."""
    remote: str | None = None
    """`host/path` of the repository's remote; None outside a repository, or without a remote for others."""
    has_repository: bool = False
    large: str = ""
    """The shared place for large outputs; empty: the database."""
    errors: tuple[ErrorFacts, ...] = field(default=(), name="troubles")
    """A remote or a shared place that cannot be reached."""


class Facts(Struct, frozen=True, kw_only=True):
    """All facts. None: unknown here, so it has no row."""

    git: GitFacts
    settings: tuple[ErrorFacts, ...]
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
    fleet: FleetFacts | None = None
    loose: LooseFacts | None = None
    undelivered: tuple[Undelivered, ...] = ()
    """Notification channels whose last message failed."""
