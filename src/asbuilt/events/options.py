"""The options of a run: everything that was chosen when the run was requested.

The journal stores them as JSON under the names of these fields. `UNSET` is a key that the JSON does not have:
the run's kind does not use it, or an older version wrote it. `settings.running.renewed` updates only the
settings that a run has, so a missing setting stays distinct from one with its default.

Rule: a stored key keeps its name and meaning. A new field needs a default.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeVar, get_args

from msgspec import UNSET, Struct, UnsetType, field

RunKind = Literal["run", "land", "undo", "verify", "author", "task"]
RunMode = Literal["phase", "finish", "verify", "author", "task"]
"""phase: the next phase; finish: all phases. Other kinds of runs have their own mode."""
Landing = Literal["cherry-pick", "pr", "direct"]
"""cherry-pick: once, at the end; pr: with a pull request; direct: each phase as soon as it is proven."""
LANDINGS: Final[tuple[Landing, ...]] = get_args(Landing)
Signing = Literal["auto", "always", "never"]
Network = Literal["list", "open", "none"]
"""list: the listed hosts; open: every host; none: no network."""
Counting = Literal["tests", "exit-code"]
"""Whether a suite is judged by its tests, or only by its exit code, which is a weaker proof."""
Depth = Literal["strict", "normal", "quick"]
PlanLength = Literal["control", "trim", "cut", "cap"]
LENGTHS: Final[tuple[PlanLength, ...]] = get_args(PlanLength)
AuthoringWay = Literal["light", "standard", "staged", "interview"]
Effort = Literal["fast", "hard"]
Severity = Literal["block", "sign-off", "note"]

_Value = TypeVar("_Value")

DEFAULT_BRANCH_PREFIX: Final = "feat/"
DEFAULT_TASK_TIMEOUT_S: Final = 1_800


class _Table(Struct, frozen=True, kw_only=True):
    """A JSON object inside the options."""


class AgentProgram(_Table, frozen=True, kw_only=True):
    """How an agent is started."""

    kind: str = "scripted"
    """Selects the adapter; `policy/agent_kinds.py` lists all kinds."""
    command: tuple[str, ...] = ()
    """Command line: an absolute path, and arguments before asbuilt's own."""
    model: str = ""
    """Empty: the agent's default."""
    effort: str = ""
    max_turns: int | None = None
    budget_usd: float | None = None
    """Cost limit of an attempt at API prices; None: no limit."""


class TeamMember(_Table, frozen=True, kw_only=True):
    """The agent that has a role in a run."""

    name: str
    program: AgentProgram = AgentProgram()


class SuiteChoice(_Table, frozen=True, kw_only=True):
    """A test suite from the settings."""

    command: str
    folder: str = ""
    setup: str = ""
    counts: Counting | UnsetType = UNSET
    runner: str | UnsetType = UNSET


class ServiceChoice(_Table, frozen=True, kw_only=True):
    """A service from the settings: a built-in service, or a command with its port."""

    name: str
    command: str = ""
    ready: int = 0


class Limits(_Table, frozen=True, kw_only=True):
    """Time limits."""

    checks_min: int | UnsetType = UNSET
    """Minutes that a setup, the tests or one check may take."""


class Variables(_Table, frozen=True, kw_only=True):
    """Names of the environment variables that checks and the setup get."""

    checks: tuple[str, ...] | UnsetType = UNSET
    setup: tuple[str, ...] | UnsetType = UNSET


class PullChoices(_Table, frozen=True, kw_only=True):
    """How a pull request is opened and watched."""

    poll_s: int | UnsetType = UNSET
    limit_s: int | UnsetType = UNSET
    fixes: int | UnsetType = UNSET
    branch_prefix: str | UnsetType = UNSET


class SandboxChoices(_Table, frozen=True, kw_only=True):
    """Access that the user grants in the sandbox."""

    network: Network | UnsetType = UNSET
    """Network access of agents."""
    setup: Network | UnsetType = UNSET
    """Network access of a checkout's setup."""
    hosts: tuple[str, ...] | UnsetType = UNSET
    readable: tuple[str, ...] | UnsetType = UNSET


class CapChoices(_Table, frozen=True, kw_only=True):
    """Spending limits of a run; None: no limit."""

    usd: float | UnsetType | None = UNSET
    tokens: int | UnsetType | None = UNSET
    hours: float | UnsetType | None = UNSET


class Between(_Table, frozen=True, kw_only=True):
    """The hours of the day in which a run may start phases."""

    hours: str
    zone: str


class Authoring(_Table, frozen=True, kw_only=True):
    """How a plan is authored."""

    mode: AuthoringWay
    prompt: str
    session: dict[str, Any]
    """As `lifecycle.authoring.session.state_of` writes it; `read_session` parses it."""
    explorers: int = 1
    planners: int = 1
    effort: Effort | None = None
    principles: str | None = None
    """None: a critic uses the principles that ship with asbuilt."""
    amounts: dict[str, tuple[int, int]] | UnsetType = UNSET
    """By name, the least number that an output needs and the number that a prompt asks for."""
    template: str | UnsetType = UNSET
    """The repository's own template of a plan."""
    in_conversation: bool | UnsetType = UNSET
    """The author is the user's own conversation, not an agent that asbuilt starts."""


class TaskOrder(Struct, frozen=True):
    """The work of a task's planner."""

    number: int
    operation: str
    path: str
    """Where the artifact will be written."""
    artifact_number: int
    effort: Effort | None = None
    model: str | None = None
    roadmap: bool = False
    clean: bool = False
    research_path: str | None = None
    prior_plan_path: str | None = None
    timeout_s: int = DEFAULT_TASK_TIMEOUT_S
    template: str | UnsetType = UNSET
    """The repository's own template of a plan."""
    written: str | UnsetType = UNSET
    """The artifact, if it is written already: no agent works."""

    @property
    def reason(self) -> str:
        """Return the steps that remain while the task is in progress."""
        return "status, link and commit are due when its agent ends"


class Extra(_Table, frozen=True, kw_only=True):
    """A stored key that this version does not know."""

    path: tuple[str, ...]
    """Names of the enclosing tables, and its own."""
    value: Any


class Parent(Struct, frozen=True, kw_only=True):
    """The run whose phase is delegated to this run."""

    plan: str
    run: str
    phase: str


class FleetOrder(_Table, frozen=True, kw_only=True):
    """What a worker on any machine needs for a run, in place of the requester's checkout."""

    remote: str
    """The URL of the remote, without a password."""
    plan: str
    """Digest of the plan's text, which the journal has."""
    author: tuple[str, str]
    """Name and email of the user, for commits."""
    attempts: str = ""
    """The URL of the remote for attempts; empty: the same remote."""
    labels: tuple[str, ...] = ()
    """Labels that a worker must have."""


class RunOptions(Struct, frozen=True, kw_only=True):
    """The options of a run."""

    kind: RunKind = "run"
    mode: RunMode = "phase"
    checkout: str = ""
    branch: str = ""
    """The branch that the run starts from and lands on."""
    slug: str = ""
    host: str = ""
    """The machine that requested the run."""
    issues: tuple[int, ...] = ()
    phase: str | None = None
    """The only phase to work on; None: the next ones."""
    auto: bool = False
    hold: bool | UnsetType = UNSET
    landing: Landing = "cherry-pick"
    between: Between | UnsetType | None = UNSET
    lanes: int | UnsetType = UNSET
    """Number of phases that may be worked on at once; in runs of older versions, one."""
    of: str | UnsetType | None = UNSET
    """For an undo: the run whose work is reverted."""
    front: bool | UnsetType = UNSET
    """It lands next on its branch, ahead of runs that wait in line."""
    continues: str | UnsetType | None = UNSET
    """The ended run that this run continues."""
    parent: Parent | UnsetType = UNSET
    fleet: FleetOrder | UnsetType = UNSET
    """Set for a run that any worker of a fleet may take; it lands on the remote."""
    revision: int | UnsetType = UNSET
    """Number of times the settings were renewed."""

    agent: str = ""
    """The agent that implements; in runs of older versions, the agent of every role."""
    agents: dict[str, TeamMember] = field(default_factory=dict)
    """The agent of each role."""
    named_agent: str | UnsetType = UNSET
    """The agent that the request named; empty: the settings chose it."""
    script: str | None = None
    """The script of the scripted agent."""

    authoring: Authoring | UnsetType = UNSET
    length: PlanLength | UnsetType = UNSET
    approvers: tuple[str, ...] | UnsetType = UNSET
    by_pull: bool | UnsetType = UNSET
    """The draft is opened for review as a pull request."""
    task: TaskOrder | UnsetType = UNSET

    # Settings follow. `settings.running` has the key of each.
    tests: str | UnsetType | None = UNSET
    """None: detected; empty: no tests."""
    suites: tuple[SuiteChoice, ...] | UnsetType = UNSET
    counts: Counting | UnsetType | None = UNSET
    setup: str | UnsetType | None = UNSET
    """None: detected; empty: no setup."""
    limits: Limits = Limits()
    depth: Depth | UnsetType = UNSET
    probe: bool | UnsetType = UNSET
    services: tuple[ServiceChoice, ...] | UnsetType = UNSET
    env: Variables | UnsetType = UNSET
    credentials: tuple[str, ...] | UnsetType = UNSET
    ui: tuple[str, ...] | UnsetType = UNSET
    pictures: str | UnsetType = UNSET
    tester: Literal["off", "page", "terminal"] | UnsetType = UNSET
    """How a tester drives the interface of a phase that people see."""
    sign: Signing | UnsetType = UNSET
    reports: str | UnsetType = UNSET
    """Folder for reports that are committed with the plan's marks; empty: none are."""
    programs: tuple[str, ...] | UnsetType = UNSET
    """Digests of the git settings whose programs the user has agreed to."""
    pull: PullChoices = PullChoices()
    sandbox_required: bool | UnsetType = field(default=UNSET, name="ring_required")
    """Stored under the name that older versions gave it."""
    sandbox: SandboxChoices = SandboxChoices()
    desktop: bool | UnsetType = UNSET
    caps: CapChoices | None = None
    scope: dict[str, Severity] = field(default_factory=dict)
    more: tuple[Extra, ...] = ()
    """Keys that this version does not know."""

    @property
    def holds(self) -> bool:
        """Return whether proven work waits for a user to land it; `hold` unset: it waits unless `auto`."""
        return value_or(self.hold, not self.auto)

    @property
    def signs_if_configured(self) -> bool:
        """Return whether commits are signed if git is set up to sign."""
        return value_or(self.sign, "auto") == "auto"

    @property
    def plans(self) -> bool:
        """Whether the run writes a plan and no code."""
        return self.kind in ("author", "task")

    @property
    def requires_sandbox(self) -> bool:
        """Return whether the run needs a sandbox; runs of older versions do."""
        return value_or(self.sandbox_required, True)

    @property
    def how_authored(self) -> Authoring:
        """Return the authoring; raise `LookupError` for a run that authors no plan."""
        if self.authoring is UNSET:
            raise LookupError(f"a run of the kind {self.kind} has no authoring")
        return self.authoring

    @property
    def ordered(self) -> TaskOrder:
        """Return the work on a task; raise `LookupError` for a run of another kind."""
        if self.task is UNSET:
            raise LookupError(f"a run of the kind {self.kind} has no task")
        return self.task

    def agent_of(self, role: str) -> str:
        """Return the agent of a role; old runs have one agent for all roles."""
        member = self.agents.get(role)
        return self.agent if member is None else member.name

    @property
    def is_in_conversation(self) -> bool:
        """Return whether the user's own conversation authors the plan."""
        return self.authoring is not UNSET and bool(self.authoring.in_conversation)


def one_of(choices: tuple[_Value, ...], text: str) -> _Value:
    """Return the member of a closed set that a text names; raise `ValueError` if there is none."""
    return choices[choices.index(text)]


def value_or(value: _Value | UnsetType, default: _Value) -> _Value:
    """Return the value, or the default if it is unset."""
    return default if value is UNSET else value
