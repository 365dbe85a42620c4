"""What do flows need? Small protocols in the callers' words, and the plain values that pass through them.

The one rule: everything here can be done twice; whoever performs it looks first whether it is done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from asbuilt.lifecycle.status.health import OVERALL_S, STALL_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from asbuilt.events.event import Cause
    from asbuilt.events.options import Network
    from asbuilt.lifecycle.attention import Message
    from asbuilt.lifecycle.pull_request.forge import (
        BranchMoved,
        Checks,
        Comment,
        Issue,
        MergeWay,
        NotMerged,
        Pull,
        Pushed,
        Review,
        Touched,
    )
    from asbuilt.policy.sandbox.rules import Level, Overlay, Placed
    from asbuilt.policy.sandbox.services import Service
    from asbuilt.proof.opinion import Opinion

Role = Literal["implement", "fix", "verify", "plan", "critique"]
Ending = Literal["done", "failed", "stalled", "timed_out", "cancelled", "crashed", "limited", "abandoned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The agent that works, as the settings name it, frozen when the run starts."""

    kind: str = "scripted"
    """Which adapter drives it; `policy/kinds.py` knows them all."""
    command: tuple[str, ...] = ()
    """How it is started: an absolute program, and what comes before our own arguments."""
    model: str = ""
    """Empty: the agent's own choice."""
    effort: str = ""
    max_turns: int | None = None
    budget_usd: float | None = None
    """What one attempt may cost at API prices; None: no cap of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What the user opens in an agent's sandbox."""

    network: Network = "list"
    """What it reaches: the hosts of its model and `hosts`, everything, or nothing."""
    hosts: tuple[str, ...] = ()
    """Hosts besides its model's."""
    readable: tuple[str, ...] = ()
    """Paths besides its workspace and the toolchains; `~` is the user's home."""

    def paths(self, home: Path) -> tuple[str, ...]:
        """Give the readable paths of a user whose home this is."""
        return tuple(f"{home}{path[1:]}" if path.startswith("~/") else path for path in self.readable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What one attempt is told, frozen: the same words however often it has to be started."""

    attempt: str
    """Its address in folders and refs: `<run>.<phase>.<number>`, a verifier's with `v` behind it."""
    role: Role
    agent: str
    """The agent's name in the settings, e.g. `claude`."""
    program: Program = Program()
    workspace: Path
    writable: bool
    """False: the workspace is mounted read-only, as for a verifier."""
    phase: str
    title: str
    text: str = ""
    """The phase's section, byte for byte (decoded so that any byte survives)."""
    intent: str = ""
    items: tuple[str, ...] = ()
    """Work items and criteria, in order; a verdict names each by its place, from 1."""
    ask: str = ""
    """For a stage of authoring: what it has to bring, in our words."""
    told: tuple[tuple[str, str], ...] = ()
    """For a stage of authoring: what others wrote, each text by its name."""
    tests: str | None = None
    """The test command as a literal, or None when the project has no tests."""
    failures: tuple[str, ...] = ()
    """What a fix has to mend, in the words of whoever found it."""
    notes: tuple[str, ...] = ()
    """What people want it to know, in their words (`asbuilt tell`); no item is changed by it."""
    base: str = ""
    """For a verifier: the commit that the work began from; what differs is what is judged."""
    changed: tuple[str, ...] = ()
    """For a verifier: files that were added or changed since, which it can cite with a line."""
    removed: tuple[str, ...] = ()
    """For a verifier: files that are gone since, which it can cite as removed."""
    shown: tuple[str, ...] = ()
    """For a verifier: checks that asbuilt ran and that passed, by the text with which it cites them."""
    unseen: tuple[str, ...] = ()
    """For a verifier: new code that no test runs, or whose change no test noticed, each with its place."""
    stall_s: int = STALL_S
    overall_s: int = OVERALL_S
    protected: tuple[Path, ...] = ()
    """What in the workspace is mounted read-only: the plan's file, agents' settings. `.git` always is."""
    ring_required: bool = True
    """False: somebody accepted that it works where no ring holds it; its result says so."""
    opened: Opened = Opened()
    results: Path | None = None
    """What setup made, for the agent to run tests with; None: nothing was made."""
    script: Path | None = None
    """For the scripted agent: the script it plays."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the agent may see of the user's environment; nothing else gets in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How an attempt ended, written once."""

    ending: Ending
    reason: str
    cause: Cause | None = None
    """Why it stopped before its work was done, where the agent told; `lifecycle.causes` says what follows."""
    says: str = ""
    """The agent's last words: a claim, never a proof."""
    verdict: Opinion | None = None
    """From a verifier: its word on every item and what it cites; None: it left none."""
    refused: tuple[str, ...] = ()
    """Hosts that its sandbox did not let it reach, each with the reason."""
    drift: tuple[str, ...] = ()
    """Lines that began with `PLAN-TEXT-DRIFT:`, whenever they were said; not yet judged."""
    session: str | None = None
    """The agent's own name for its conversation."""
    resets_at: str | None = None
    """With `limited`: when the usage limit opens again, UTC ISO 8601."""
    tool_calls: int = 0
    cost_usd: float | None = None
    """At API prices, over all starts; None: unknown, which is not nothing. The same holds for its tokens."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_s: float = 0.0
    starts: int = 1
    ring: str = "none"
    exit_code: int | None = None
    """The exit code of an agent that failed by itself, as a shell counts it; None: unknown."""
    stderr: str = ""
    """The end of what a failed agent wrote to stderr."""

    @property
    def tokens(self) -> int | None:
        """Count the tokens of all its starts; None where they are not known."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


class Attempts(Protocol):
    """Work given to someone outside this process, who goes on when we die."""

    def start(self, brief: Brief, *, after: int = 0) -> None:
        """Start the attempt; a no-op when it runs or has ended.

        How start `after` or an earlier one ended is over and done with: a new start goes on from there.
        """

    def result(self, attempt: str) -> Result | None:
        """Return how it ended, or None while it has not."""

    def beat(self, attempt: str) -> None:
        """Tell its host that somebody still waits for it."""

    def alive(self, attempt: str) -> bool:
        """Tell whether its host process lives."""

    def cancel(self, attempt: str) -> None:
        """Ask it to end: its whole tree, TERM, 10 s, KILL."""

    def starts(self, attempt: str) -> int:
        """Tell how often a host has started it; more than one after a crash or a limit."""

    def events(self, attempt: str, after: int = 0) -> tuple[list[dict[str, object]], int]:
        """Read what has happened since a place in its events, and the place to go on from."""

    def last_heard(self, attempt: str) -> datetime | None:
        """Tell when its agent last gave a sign, for people; limits are the host's to count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A checkout of its own, detached and locked."""

    path: Path
    git_dir: Path
    """Its private git folder; git is never left to discover one inside a workspace."""
    common: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An attempt's tree under a ref, before anything else touches it."""

    commit: str
    tree: str
    ref: str
    ignored: tuple[tuple[str, int], ...]
    """Ignored files by name and size; they are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command to be run by us in a checkout, inside the ring."""

    argv: tuple[str, ...]
    cwd: Path
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    """Folders beyond the system's own that it may read."""
    hidden: tuple[Path, ...] = ()
    home: Path | None = None
    """Its HOME, when it shall find something there or leave something; None: a new and empty one."""
    network: Network = "none"
    """list: the registries of this machine's package tools, and `hosts`."""
    hosts: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    placed: tuple[Placed, ...] = ()
    """Folders at other paths inside; `cwd` and `home` are then paths inside. Only where `can_place`."""
    overlays: tuple[Overlay, ...] = ()
    """Views made before the command starts. Only where `can_overlay`."""
    services: tuple[Service, ...] = ()
    """Programs that run beside it. Only where `can_place`: elsewhere it has no loopback of its own."""
    as_user: bool = False
    """Not with user id 0, also where we have it: databases refuse it. Only where `can_place`."""
    timeout_s: int = 1800
    output_cap: int = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command did."""

    exit_code: int | None
    """None when it was ended by a limit."""
    output: bytes
    """stdout and stderr as they came, cut in the middle above the cap."""
    truncated: bool
    duration_s: float
    ring: str


class Attention(Protocol):
    """A way to reach a person who does not look on."""

    @property
    def way(self) -> str:
        """What it is called: `desktop`."""

    def call(self, message: Message) -> str | None:
        """Say it; what kept it from being heard is the answer. Whatever comes of it, runs go on."""


class Processes(Protocol):
    """Commands that we run ourselves, in the ring."""

    def run(self, command: Command) -> Ended:
        """Run it to its end or its limit; nothing of it lives on."""

    def ending(self, when: Callable[[], bool], /) -> Processes:
        """Return the same, whose commands are ended with `CommandStopped` as soon as `when` is true."""

    @property
    def level(self) -> Level:
        """The ring that holds it, as probed by running."""

    @property
    def can_place(self) -> bool:
        """Report whether a folder can have another path inside."""

    def can_overlay(self, folder: Path) -> bool:
        """Report whether overlays can be made of folders on this one's file system, as tried there."""


class Redrafting(Protocol):
    """Somebody who writes a plan anew: an agent, or a person with an editor or a file."""

    @property
    def by(self) -> str:
        """Who that is, as drafts name them."""

    def redraft(self, text: bytes, change: str) -> bytes:
        """Give the whole plan as it is to be; what is done may be left out, and is kept in any case."""


class Forge(Protocol):
    """Where pull requests live: one repository on GitHub or another forge, by a remote of ours.

    Trouble that may pass (no network, a rate limit, a 5xx) is `ForgeBusy`: ask again later. What a person has
    to mend (no program, not signed in, not allowed) is `ForgeFailed`. A call that raised may have been heard.
    """

    @property
    def address(self) -> str:
        """Which repository this is: `github.com/owner/name`."""

    def tip(self, branch: str) -> str | None:
        """Tell where a branch is on the remote, or None when it is not there."""

    def fetch(self, branch: str) -> str | None:
        """Bring a remote branch's commits here, under no branch of the user's; returns its tip."""

    def push(self, branch: str, commit: str, *, expected: str | None) -> Pushed | BranchMoved:
        """Put the remote branch at a commit, if it is there or where it is `expected` (None: gone)."""

    def drop(self, branch: str, *, expected: str) -> Pushed | BranchMoved:
        """Delete the remote branch if it is at `expected`; one that is gone already is `already`."""

    def find(self, branch: str) -> Pull | None:
        """Find the pull request of a branch: the open one, else the newest."""

    def pull(self, number: int) -> Pull:
        """Read one pull request again."""

    def open(self, *, branch: str, base: str, title: str, body: str, draft: bool = False) -> Pull:
        """Open a pull request, or return the one that the branch has open."""

    def update(self, number: int, *, title: str | None = None, body: str | None = None) -> Pull:
        """Set title or body where they differ."""

    def checks(self, commit: str) -> Checks:
        """Read what the forge's checks say of a commit."""

    def merge(self, number: int, *, head: str, way: MergeWay = "merge") -> Pull | NotMerged:
        """Merge if its head is still `head`; one that is merged already is returned."""

    def close(self, number: int) -> Pull:
        """Close a pull request without merging; one that is not open is returned as it is."""

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Read its reviews, the oldest first."""

    def comments(self, number: int) -> tuple[Comment, ...]:
        """Read the remarks at its lines, the oldest first."""

    def touched(self, *, base: str | None = None) -> tuple[Touched, ...]:
        """List the open pull requests with the files that each changes."""

    def issue(self, number: int) -> Issue | None:
        """Read an issue, or None when there is none of that number."""

    def may_write(self, person: str) -> bool:
        """Read whether an account may push to the repository."""

    def say(self, number: int, text: str, *, mark: str) -> bool:
        """Comment on an issue or pull request once: False when a comment of ours holds the `mark` already."""

    def close_issue(self, number: int) -> bool:
        """Close an issue: False when it is not open."""
