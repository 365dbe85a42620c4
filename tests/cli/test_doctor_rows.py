"""Each row of `doctor` says what was found, and what is not right says why and what next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot
from msgspec.structs import replace

from asbuilt._version import VERSION
from asbuilt.agents.sandbox.unavailable import Knobs, why_bubblewrap, why_landlock
from asbuilt.cli.commands.doctor import page
from asbuilt.cli.commands.doctor.facts import (
    Agent,
    AgentsFacts,
    ClockFacts,
    ErrorFacts,
    GateFacts,
    GitFacts,
    PowerFacts,
    SandboxFacts,
    StoreFacts,
)
from asbuilt.cli.commands.doctor.rows import conclusion, judge
from asbuilt.cli.ui.screen import Pen
from asbuilt.cli.ui.symbols import UNICODE
from tests.cli.machines import LOOKED_FOR, NO_NAMESPACE, READY

if TYPE_CHECKING:
    from asbuilt.cli.commands.doctor.facts import Facts

PLAIN = Pen(stream=None, styled=False, symbols=UNICODE, utf8=True)


def _row(facts: Facts, name: str) -> str:
    """Show one row alone, as a person sees it."""
    rows = [row for row in judge(facts) if row.name == name]
    return "\n".join(page.lines(PLAIN, rows, "")[:-1]) + "\n"


@pytest.mark.parametrize(
    ("git", "shown"),
    [
        (
            GitFacts(version=None),
            snapshot("""\
✗ git       no program git on PATH
            Why:  Plans are run in workspaces that git makes, and land as
                  commits.
            Fix:  Install the package git, then: asbuilt doctor
"""),
        ),
        (GitFacts(version="2.47.1"), snapshot("! git       2.47.1   not in a repository; a run needs one\n")),
        (
            GitFacts(
                version="2.47.1", repository="shop-api", branch="main", first_commit='git commit -m "First"'
            ),
            snapshot("""\
✗ git       2.47.1   shop-api has no commit yet
            Why:  A run starts from a commit, and proves what it adds to it.
            Fix:  git commit -m "First"
"""),
        ),
        (
            GitFacts(
                version="2.47.1", repository="shop-api", has_commits=True, operations=("rebase",), changed=1
            ),
            snapshot("""\
✗ git       2.47.1   shop-api, no branch checked out, in the middle of a rebase,
            1 file changed (yours; never touched)
            Why:  A run starts from a finished state of the branch that it lands
                  on.
            Fix:  git status shows how to continue.
"""),
        ),
        (
            GitFacts(
                version="2.47.1",
                repository="shop-api",
                error=ErrorFacts(
                    what="it belongs to another user", why="Its settings.", next_step="Trust it."
                ),
                branch="main",
            ),
            snapshot("""\
✗ git       it belongs to another user; no commit yet
            Why:  Its settings.
            Fix:  Trust it.
"""),
        ),
    ],
    ids=["missing", "outside", "no-commit", "rebasing", "refused"],
)
def test_the_row_of_git(git: GitFacts, shown: str) -> None:
    assert _row(replace(READY, git=git), "git") == shown


@pytest.mark.parametrize(
    ("agents", "shown", "concluded"),
    [
        (
            AgentsFacts(looked_for=LOOKED_FOR, found=(), driven=("scripted",)),
            snapshot("""\
! agents    none of claude, codex, gemini, opencode, claude-acp found; only the
            scripted agent works here
"""),
            snapshot("Ready, with the scripted agent."),
        ),
        (
            AgentsFacts(
                looked_for=LOOKED_FOR,
                found=(),
                driven=("scripted",),
                lacking=(("codex", "codex-acp", "npm install -g @zed-industries/codex-acp"),),
            ),
            snapshot("""\
! agents    codex found, without its adapter codex-acp; only the scripted agent
            works here
            Fix:  npm install -g @zed-industries/codex-acp
"""),
            snapshot("Ready, with the scripted agent."),
        ),
        (
            AgentsFacts(
                looked_for=LOOKED_FOR,
                found=(Agent(name="claude", version="2.1.325"), Agent(name="codex", version="0.166.0")),
                driven=("scripted",),
            ),
            snapshot("""\
! agents    claude 2.1.325 and codex 0.166.0 found; only the scripted agent
            works here
"""),
            snapshot("Ready, with the scripted agent."),
        ),
        (
            AgentsFacts(
                looked_for=LOOKED_FOR,
                found=(Agent(name="claude", version="2.1.325"), Agent(name="gemini", version=None)),
                driven=("scripted", "claude"),
            ),
            snapshot("✓ agents    claude 2.1.325; found and not driven: gemini (it says no version)\n"),
            snapshot("Ready to be left alone."),
        ),
    ],
    ids=["none", "without its adapter", "found", "driven"],
)
def test_the_row_of_agents_promises_only_what_is_driven(
    agents: AgentsFacts, shown: str, concluded: str
) -> None:
    facts = replace(READY, agents=agents)
    assert (_row(facts, "agents"), conclusion(judge(facts), facts)) == (shown, concluded)


@pytest.mark.parametrize(
    ("sandbox", "shown"),
    [
        (
            SandboxFacts(
                level="none",
                version="",
                refusals=(why_bubblewrap("", Knobs(), there=False), why_landlock("")),
                required=True,
            ),
            snapshot("""\
✗ sandbox   bubblewrap is not installed; Landlock is off
            Why:  It is what holds agents and checks to their workspace on
                  Linux. An agent could write to all that you can.
            Fix:  asbuilt doctor --fix sandbox shows the change, then asks
            Or:   asbuilt config set sandbox.required false; reports then say so
"""),
        ),
        (
            SandboxFacts(
                level="landlock",
                version="ABI 7",
                refusals=(why_bubblewrap(NO_NAMESPACE, Knobs(in_container=True), there=True),),
                required=True,
            ),
            snapshot("""\
✗ sandbox   this container may not make namespaces of its own; Landlock ABI 7
            holds planning commands only
            Why:  Its seccomp profile or masked /proc forbids what bubblewrap
                  does. It said: bwrap: setting up uid map: Permission denied.
                  An agent could write to all that you can.
            Fix:  asbuilt doctor --fix sandbox shows the change, then asks
            Or:   asbuilt config set sandbox.required false; reports then say so
"""),
        ),
        (
            SandboxFacts(
                level="none",
                version="",
                refusals=(why_bubblewrap("it ran, and let a write through", Knobs(), there=True, ran=True),),
                required=True,
            ),
            snapshot("""\
✗ sandbox   bubblewrap does not work here: it ran, and let a write through
            Why:  A sandbox that lets the canary out lets everything out. An
                  agent could write to all that you can.
            Fix:  command -v bwrap names the program; it should be the
                  distribution's own.
            Or:   asbuilt config set sandbox.required false; reports then say so
"""),
        ),
        (
            SandboxFacts(
                level="none",
                version="",
                refusals=(why_bubblewrap(NO_NAMESPACE, Knobs(namespaces_off=True), there=True),),
                required=False,
            ),
            snapshot("""\
! sandbox   this system has user namespaces switched off
            Why:  sandbox.required is false: agents and checks run unheld, and
                  reports say so.
"""),
        ),
        (
            SandboxFacts(level="seatbelt", version="", refusals=(), required=True),
            snapshot("✓ sandbox   Seatbelt   a write and a connection were refused just now\n"),
        ),
    ],
    ids=["missing", "landlock", "leaks", "not-required", "macos"],
)
def test_the_row_of_the_sandbox(sandbox: SandboxFacts, shown: str) -> None:
    assert _row(replace(READY, sandbox=sandbox), "sandbox") == shown


@pytest.mark.parametrize(
    ("store", "shown"),
    [
        (
            StoreFacts(database="Postgres", free_bytes=None, schema=0, known_schema=1),
            snapshot("✓ store     Postgres\n"),
        ),
        (
            StoreFacts(database="SQLite", free_bytes=940_000_000, schema=1, known_schema=1),
            snapshot("""\
! store     SQLite, schema 1, 940 MB free
            Why:  Workspaces, outputs and the journal share this disk; a run
                  stops when it is full.
            Fix:  asbuilt clean --yes, or set ASBUILT_HOME to a folder on
                  another local disk.
"""),
        ),
        (
            StoreFacts(database="SQLite", free_bytes=61_000_000_000, schema=3, known_schema=1),
            snapshot("""\
✗ store     the journal has schema 3; this version knows 1
            Why:  A newer asbuilt wrote it, and an older one could misread what
                  happened.
            Fix:  Install the newer asbuilt again.
"""),
        ),
        (
            StoreFacts(
                database="SQLite",
                free_bytes=61_000_000_000,
                schema=None,
                known_schema=1,
                error=ErrorFacts(
                    what="the state folder /net/me is on a network file system (nfs4)",
                    why="Locks and syncs mean less there.",
                    next_step="Set ASBUILT_HOME to a folder on a local disk.",
                ),
            ),
            snapshot("""\
✗ store     the state folder /net/me is on a network file system (nfs4)
            Why:  Locks and syncs mean less there.
            Fix:  Set ASBUILT_HOME to a folder on a local disk.
"""),
        ),
    ],
    ids=["postgres", "tight", "newer", "network"],
)
def test_the_row_of_the_store(store: StoreFacts, shown: str) -> None:
    assert _row(replace(READY, store=store), "store") == shown


@pytest.mark.parametrize(
    ("clock", "shown"),
    [
        (
            ClockFacts(ahead_of_disk_s=-3_600.0, behind_us_s=0.0, jumped_s=0.0),
            snapshot("""\
! clock     it and the disk differ by 3600 s
            Why:  Schedules and usage limits end by the clock; durations are
                  measured without it.
            Fix:  sudo timedatectl set-ntp true
"""),
        ),
        (
            ClockFacts(ahead_of_disk_s=0.0, behind_us_s=0.0, jumped_s=-12.5),
            snapshot("""\
! clock     it jumped by -12.5 s while we looked
            Why:  Schedules and usage limits end by the clock; durations are
                  measured without it.
            Fix:  sudo timedatectl set-ntp true
"""),
        ),
    ],
    ids=["disk", "jump"],
)
def test_a_clock_has_a_row_only_when_it_is_wrong(clock: ClockFacts, shown: str) -> None:
    assert _row(READY, "clock") == "\n"
    assert _row(replace(READY, clock=clock), "clock") == shown


@pytest.mark.parametrize(
    ("gate", "shown"),
    [
        (
            GateFacts(installed=False),
            snapshot("""\
! gate      not installed; Claude Code has only its own plan mode
            Fix:  asbuilt init --claude
"""),
        ),
        (
            GateFacts(installed=True, enabled=True, version="0.0.1", refused=True, took_ms=24.3),
            snapshot("""\
✗ gate      installed plugin is that of 0.0.1; this is asbuilt [VERSION]
            Why:  Hook and commands of two versions may differ in what they
                  keep.
            Fix:  asbuilt init --claude
"""),
        ),
        (
            GateFacts(installed=True, enabled=False, version=VERSION, refused=True, took_ms=24.3),
            snapshot("""\
! gate      installed hook refused a known-bad call in 24 ms, and is not enabled
            in Claude Code
            Fix:  asbuilt init --claude
"""),
        ),
        (
            GateFacts(installed=True, enabled=True, version=VERSION, output="exit 0"),
            snapshot("""\
✗ gate      installed hook let a known-bad call through: exit 0
            Why:  Claude Code runs a tool whenever the hook before it fails.
            Fix:  asbuilt init --claude
"""),
        ),
    ],
    ids=["not installed", "another version", "not enabled", "lets it through"],
)
def test_a_gate_that_does_not_hold_says_what_helps(gate: GateFacts, shown: str) -> None:
    assert _row(replace(READY, gate=gate), "gate").replace(VERSION, "[VERSION]") == shown


def test_a_machine_that_is_kept_awake_says_by_what() -> None:
    power = PowerFacts(sleeps=True, source="logind", held_by="systemd-inhibit")
    assert _row(replace(READY, power=power), "power") == snapshot("""\
! power     this laptop sleeps when idle; systemd-inhibit keeps it awake while
            an agent works
""")
