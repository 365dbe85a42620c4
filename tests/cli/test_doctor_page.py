"""What the doctor found is judged by pure rules and shown whole: wide, narrow, styled, plain and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import Is, snapshot

from asbuilt._version import VERSION
from asbuilt.agents.refusals import Knobs, why_bubblewrap, why_landlock
from asbuilt.cli.doctor import page
from asbuilt.cli.doctor.facts import (
    Agent,
    AgentsFacts,
    ClockFacts,
    GateFacts,
    GitFacts,
    PowerFacts,
    SandboxFacts,
    StoreFacts,
    SuiteFacts,
    Tried,
    Trouble,
    WorkerFacts,
)
from asbuilt.cli.doctor.rows import State, conclusion, judge
from asbuilt.cli.screen import ASCII, UNICODE, Pen, printable
from tests.cli.machines import LOOKED_FOR, NO_NAMESPACE, READY, TROUBLED

if TYPE_CHECKING:
    from asbuilt.cli.doctor.facts import Facts

PLAIN = Pen(stream=None, styled=False, symbols=UNICODE, utf8=True)
STYLED = PLAIN._replace(styled=True)
IN_ASCII = PLAIN._replace(symbols=ASCII, utf8=False)


def _shown(facts: Facts, pen: Pen = PLAIN) -> str:
    rows = judge(facts)
    return "\n".join(page.lines(pen, rows, conclusion(rows, facts))) + "\n"


def _row(facts: Facts, name: str) -> str:
    """Show one row alone, as a person sees it."""
    rows = [row for row in judge(facts) if row.name == name]
    return "\n".join(page.lines(PLAIN, rows, "")[:-1]) + "\n"


def test_a_ready_machine_is_told_in_a_line_each() -> None:
    assert _shown(READY) == snapshot("""\
✓ git       2.47.1   shop-api, main, clean
✓ agents    claude 2.1.325 and codex 0.166.0
✓ sandbox   bubblewrap 0.11.0   a write and a connection were refused just now
✓ gate      installed hook refused a known-bad call in 24 ms
✓ tests     uv run pytest -q   from asbuilt.toml:2 (--tests also runs it)
✓ store     SQLite, schema 1, 61 GB free
○ worker    starts with the first run
! power     this laptop sleeps when idle; a run pauses then, and goes on after
Ready to be left alone.
""")


def test_a_ready_machine_in_colour() -> None:
    assert _shown(READY, STYLED) == snapshot("""\
\x1b[32m✓\x1b[0m \x1b[1mgit\x1b[0m       2.47.1   shop-api, main, clean
\x1b[32m✓\x1b[0m \x1b[1magents\x1b[0m    claude 2.1.325 and codex 0.166.0
\x1b[32m✓\x1b[0m \x1b[1msandbox\x1b[0m   bubblewrap 0.11.0   a write and a connection were refused just now
\x1b[32m✓\x1b[0m \x1b[1mgate\x1b[0m      installed hook refused a known-bad call in 24 ms
\x1b[32m✓\x1b[0m \x1b[1mtests\x1b[0m     uv run pytest -q   from asbuilt.toml:2 (--tests also runs it)
\x1b[32m✓\x1b[0m \x1b[1mstore\x1b[0m     SQLite, schema 1, 61 GB free
○ \x1b[1mworker\x1b[0m    starts with the first run
\x1b[33m!\x1b[0m \x1b[1mpower\x1b[0m     this laptop sleeps when idle; a run pauses then, and goes on after
Ready to be left alone.
""")


def test_a_ready_machine_in_ascii() -> None:
    assert _shown(READY, IN_ASCII) == snapshot("""\
+ git       2.47.1   shop-api, main, clean
+ agents    claude 2.1.325 and codex 0.166.0
+ sandbox   bubblewrap 0.11.0   a write and a connection were refused just now
+ gate      installed hook refused a known-bad call in 24 ms
+ tests     uv run pytest -q   from asbuilt.toml:2 (--tests also runs it)
+ store     SQLite, schema 1, 61 GB free
. worker    starts with the first run
! power     this laptop sleeps when idle; a run pauses then, and goes on after
Ready to be left alone.
""")


def test_a_ready_machine_in_forty_columns() -> None:
    assert _shown(READY, IN_ASCII._replace(width=40)) == snapshot("""\
+ git       2.47.1   shop-api, main,
            clean
+ agents    claude 2.1.325 and codex
            0.166.0
+ sandbox   bubblewrap 0.11.0   a write
            and a connection were
            refused just now
+ gate      installed hook refused a
            known-bad call in 24 ms
+ tests     uv run pytest -q   from
            asbuilt.toml:2 (--tests also
            runs it)
+ store     SQLite, schema 1, 61 GB free
. worker    starts with the first run
! power     this laptop sleeps when
            idle; a run pauses then, and
            goes on after
Ready to be left alone.
""")


def test_every_problem_says_why_and_what_next() -> None:
    assert _shown(TROUBLED) == snapshot("""\
✓ git       2.43.0   shop-api, main, 2 files changed (yours; never touched)
✗ settings  asbuilt.toml:7: landing.mode "merge" is not cherry-pick, pr, direct
            Why:  A guessed landing could move the wrong branch.
            Next: Correct asbuilt.toml:7; asbuilt config show --origin shows who
                  sets what.
! agents    gemini (it says no version) found; only the scripted agent works
            here
✗ sandbox   AppArmor refuses bubblewrap a user namespace; Landlock is off
            Why:  kernel.apparmor_restrict_unprivileged_userns is 1, and no
                  profile excepts bwrap. It said: bwrap: setting up uid map:
                  Permission denied. An agent could write to all that you can.
            Next: asbuilt doctor --fix sandbox shows the change, then asks
            Or:   asbuilt config set ring.required false; reports then say so
✗ gate      installed hook let a known-bad call through: sh: 1: /gone/python:
            not found
            Why:  Claude Code runs a tool whenever the hook before it fails.
            Next: asbuilt init --claude
✗ tests     pytest -q   NOT_RUN on a clean checkout: 0 tests ran
            Why:  A run is measured against what the tests show before it; these
                  show nothing.
            Next: Make it pass from a fresh clone, or set another:
                  asbuilt.toml:2 names it.
✗ store     SQLite, 1 MB free
            Why:  Workspaces, outputs and the journal share this disk; a run
                  stops when it is full.
            Next: Make room, or set ASBUILT_HOME to a folder on another local
                  disk.
✓ worker    running, pid 41822
! clock     it says a time 86400 s before asbuilt was installed
            Why:  Schedules and usage limits end by the clock; durations are
                  measured without it.
            Next: Set the clock, or switch on time synchronisation.
5 problems. No run starts here until they are gone.
""")


def test_problems_in_colour() -> None:
    assert _shown(TROUBLED, STYLED) == snapshot("""\
\x1b[32m✓\x1b[0m \x1b[1mgit\x1b[0m       2.43.0   shop-api, main, 2 files changed (yours; never touched)
\x1b[31m✗\x1b[0m \x1b[1msettings\x1b[0m  asbuilt.toml:7: landing.mode "merge" is not cherry-pick, pr, direct
            Why:  A guessed landing could move the wrong branch.
            Next: Correct asbuilt.toml:7; \x1b[1masbuilt config show --origin\x1b[0m shows who
                  sets what.
\x1b[33m!\x1b[0m \x1b[1magents\x1b[0m    gemini (it says no version) found; only the scripted agent works
            here
\x1b[31m✗\x1b[0m \x1b[1msandbox\x1b[0m   AppArmor refuses bubblewrap a user namespace; Landlock is off
            Why:  kernel.apparmor_restrict_unprivileged_userns is 1, and no
                  profile excepts bwrap. It said: bwrap: setting up uid map:
                  Permission denied. An agent could write to all that you can.
            Next: \x1b[1masbuilt doctor --fix sandbox\x1b[0m shows the change, then asks
            Or:   \x1b[1masbuilt config set ring.required false\x1b[0m; reports then say so
\x1b[31m✗\x1b[0m \x1b[1mgate\x1b[0m      installed hook let a known-bad call through: sh: 1: /gone/python:
            not found
            Why:  Claude Code runs a tool whenever the hook before it fails.
            Next: \x1b[1masbuilt init --claude\x1b[0m
\x1b[31m✗\x1b[0m \x1b[1mtests\x1b[0m     pytest -q   NOT_RUN on a clean checkout: 0 tests ran
            Why:  A run is measured against what the tests show before it; these
                  show nothing.
            Next: Make it pass from a fresh clone, or set another:
                  asbuilt.toml:2 names it.
\x1b[31m✗\x1b[0m \x1b[1mstore\x1b[0m     SQLite, 1 MB free
            Why:  Workspaces, outputs and the journal share this disk; a run
                  stops when it is full.
            Next: Make room, or set ASBUILT_HOME to a folder on another local
                  disk.
\x1b[32m✓\x1b[0m \x1b[1mworker\x1b[0m    running, pid 41822
\x1b[33m!\x1b[0m \x1b[1mclock\x1b[0m     it says a time 86400 s before asbuilt was installed
            Why:  Schedules and usage limits end by the clock; durations are
                  measured without it.
            Next: Set the clock, or switch on time synchronisation.
5 problems. No run starts here until they are gone.
""")


def test_problems_in_forty_columns() -> None:
    assert _shown(TROUBLED, PLAIN._replace(width=40)) == snapshot("""\
✓ git       2.43.0   shop-api, main, 2
            files changed (yours; never
            touched)
✗ settings  asbuilt.toml:7: landing.mode
            "merge" is not cherry-pick,
            pr, direct
  Why:  A guessed landing could move the
        wrong branch.
  Next: Correct asbuilt.toml:7;
        asbuilt config show --origin
        shows who sets what.
! agents    gemini (it says no version)
            found; only the scripted
            agent works here
✗ sandbox   AppArmor refuses bubblewrap
            a user namespace; Landlock
            is off
  Why:  kernel.apparmor_restrict_unprivi
        leged_userns is 1, and no
        profile excepts bwrap. It said:
        bwrap: setting up uid map:
        Permission denied. An agent
        could write to all that you can.
  Next: asbuilt doctor --fix sandbox
        shows the change, then asks
  Or:
        asbuilt config set ring.required false;
        reports then say so
✗ gate      installed hook let a
            known-bad call through: sh:
            1: /gone/python: not found
  Why:  Claude Code runs a tool whenever
        the hook before it fails.
  Next: asbuilt init --claude
✗ tests     pytest -q   NOT_RUN on a
            clean checkout: 0 tests ran
  Why:  A run is measured against what
        the tests show before it; these
        show nothing.
  Next: Make it pass from a fresh clone,
        or set another: asbuilt.toml:2
        names it.
✗ store     SQLite, 1 MB free
  Why:  Workspaces, outputs and the
        journal share this disk; a run
        stops when it is full.
  Next: Make room, or set ASBUILT_HOME
        to a folder on another local
        disk.
✓ worker    running, pid 41822
! clock     it says a time 86400 s
            before asbuilt was installed
  Why:  Schedules and usage limits end
        by the clock; durations are
        measured without it.
  Next: Set the clock, or switch on time
        synchronisation.
5 problems. No run starts here until
they are gone.
""")


def test_a_script_gets_the_same_rows_with_their_facts() -> None:
    rows = judge(READY)
    assert json.loads(json.dumps(page.as_json(rows, conclusion(rows, READY)))) == snapshot(
        {
            "schema": "asbuilt.doctor/1",
            "ready": True,
            "conclusion": "Ready to be left alone.",
            "rows": [
                {
                    "name": "git",
                    "state": "good",
                    "said": "2.47.1   shop-api, main, clean",
                    "why": "",
                    "next": "",
                    "or": "",
                    "facts": {
                        "version": "2.47.1",
                        "repository": "shop-api",
                        "branch": "main",
                        "has_commits": True,
                        "changed": 0,
                        "operations": [],
                        "trouble": None,
                    },
                },
                {
                    "name": "agents",
                    "state": "good",
                    "said": "claude 2.1.325 and codex 0.166.0",
                    "why": "",
                    "next": "",
                    "or": "",
                    "facts": {
                        "looked_for": ["claude", "codex", "gemini", "opencode", "claude-acp"],
                        "found": [
                            {"name": "claude", "version": "2.1.325"},
                            {"name": "codex", "version": "0.166.0"},
                        ],
                        "driven": ["scripted", "claude", "codex"],
                    },
                },
                {
                    "name": "sandbox",
                    "state": "good",
                    "said": "bubblewrap 0.11.0   a write and a connection were refused just now",
                    "why": "",
                    "next": "",
                    "or": "",
                    "facts": {"level": "bwrap", "version": "0.11.0", "refusals": [], "required": True},
                },
                {
                    "name": "gate",
                    "state": "good",
                    "said": "installed hook refused a known-bad call in 24 ms",
                    "why": "",
                    "next": "",
                    "or": "",
                    "facts": {
                        "installed": True,
                        "enabled": True,
                        "version": Is(VERSION),
                        "refused": True,
                        "took_ms": 24.3,
                        "said": "",
                    },
                },
                {
                    "name": "tests",
                    "state": "good",
                    "said": "uv run pytest -q   from asbuilt.toml:2 (--tests also runs it)",
                    "why": "",
                    "next": "",
                    "or": "",
                    "facts": {"command": "uv run pytest -q", "origin": "asbuilt.toml:2", "tried": None},
                },
                {
                    "name": "store",
                    "state": "good",
                    "said": "SQLite, schema 1, 61 GB free",
                    "why": "",
                    "next": "",
                    "or": "",
                    "facts": {
                        "database": "SQLite",
                        "free_bytes": 61400000000,
                        "schema": 1,
                        "known_schema": 1,
                        "trouble": None,
                    },
                },
                {
                    "name": "worker",
                    "state": "idle",
                    "said": "starts with the first run",
                    "why": "",
                    "next": "",
                    "or": "",
                    "facts": {"running": False, "pid": None},
                },
                {
                    "name": "power",
                    "state": "note",
                    "said": "this laptop sleeps when idle; a run pauses then, and goes on after",
                    "why": "",
                    "next": "",
                    "or": "",
                    "facts": {"sleeps": True, "told_by": "logind", "held_by": None},
                },
            ],
        }
    )


@pytest.mark.parametrize(
    ("git", "shown"),
    [
        (
            GitFacts(version=None),
            snapshot("""\
✗ git       no program git on PATH
            Why:  Plans are run in workspaces that git makes, and land as
                  commits.
            Next: Install the package git.
"""),
        ),
        (GitFacts(version="2.47.1"), snapshot("! git       2.47.1   not in a repository; a run needs one\n")),
        (
            GitFacts(version="2.47.1", repository="shop-api", branch="main"),
            snapshot("""\
✗ git       2.47.1   shop-api has no commit yet
            Why:  A run starts from a commit, and proves what it adds to it.
            Next: git commit what there is.
"""),
        ),
        (
            GitFacts(
                version="2.47.1", repository="shop-api", has_commits=True, operations=("rebase",), changed=1
            ),
            snapshot("""\
! git       2.47.1   shop-api, no branch checked out, in the middle of a rebase,
            1 file changed (yours; never touched)
"""),
        ),
        (
            GitFacts(
                version="2.47.1",
                repository="shop-api",
                trouble=Trouble(
                    what="it belongs to another user", why="Its settings.", next_step="Trust it."
                ),
            ),
            snapshot("""\
✗ git       it belongs to another user
            Why:  Its settings.
            Next: Trust it.
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
    ids=["none", "found", "driven"],
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
            Next: asbuilt doctor --fix sandbox shows the change, then asks
            Or:   asbuilt config set ring.required false; reports then say so
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
            Next: asbuilt doctor --fix sandbox shows the change, then asks
            Or:   asbuilt config set ring.required false; reports then say so
"""),
        ),
        (
            SandboxFacts(
                level="none",
                version="",
                refusals=(why_bubblewrap("it ran, and let a write through", Knobs(), there=True),),
                required=True,
            ),
            snapshot("""\
✗ sandbox   bubblewrap does not hold here: it ran, and let a write through
            Why:  A ring that lets the canary out lets everything out. An agent
                  could write to all that you can.
            Next: Look which program answers to the name bwrap; it should be the
                  distribution's own.
            Or:   asbuilt config set ring.required false; reports then say so
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
            Why:  ring.required is false: agents and checks run unheld, and
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
    ("tests", "shown"),
    [
        (
            SuiteFacts(command="", origin="default"),
            snapshot("""\
! tests     no command is set; a run looks for one, and asks
            Next: asbuilt config set checks.tests "COMMAND" --in repository
"""),
        ),
        (
            SuiteFacts(
                command="pytest -q",
                origin="asbuilt.toml:2",
                tried=Tried(outcome="PASS", why="214 ran, 0 skipped"),
            ),
            snapshot("✓ tests     pytest -q   214 ran, 0 skipped on a clean checkout\n"),
        ),
        (
            SuiteFacts(
                command="pytest -q",
                origin="asbuilt.toml:2",
                tried=Tried(outcome="PASS", why="214 ran, 0 skipped", failing=2),
            ),
            snapshot("""\
! tests     pytest -q   214 ran, 0 skipped, 2 failing on a clean checkout
            Why:  What fails before a run is noted, and does not stop it.
"""),
        ),
    ],
    ids=["unset", "passed", "red"],
)
def test_the_row_of_the_tests(tests: SuiteFacts, shown: str) -> None:
    assert _row(replace(READY, tests=tests), "tests") == shown


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
            Next: Make room, or set ASBUILT_HOME to a folder on another local
                  disk.
"""),
        ),
        (
            StoreFacts(database="SQLite", free_bytes=61_000_000_000, schema=3, known_schema=1),
            snapshot("""\
✗ store     the journal has schema 3; this version knows 1
            Why:  A newer asbuilt wrote it, and an older one could misread what
                  happened.
            Next: Install the newer asbuilt again.
"""),
        ),
        (
            StoreFacts(
                database="SQLite",
                free_bytes=61_000_000_000,
                schema=None,
                known_schema=1,
                trouble=Trouble(
                    what="the state folder /net/me lies on a network file system (nfs4)",
                    why="Locks and syncs mean less there.",
                    next_step="Set ASBUILT_HOME to a folder on a local disk.",
                ),
            ),
            snapshot("""\
✗ store     the state folder /net/me lies on a network file system (nfs4)
            Why:  Locks and syncs mean less there.
            Next: Set ASBUILT_HOME to a folder on a local disk.
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
            Next: Set the clock, or switch on time synchronisation.
"""),
        ),
        (
            ClockFacts(ahead_of_disk_s=0.0, behind_us_s=0.0, jumped_s=-12.5),
            snapshot("""\
! clock     it jumped by -12.5 s while we looked
            Why:  Schedules and usage limits end by the clock; durations are
                  measured without it.
            Next: Set the clock, or switch on time synchronisation.
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
! gate      not installed; in Claude Code planning is held by its own plan mode
            Next: asbuilt init --claude
"""),
        ),
        (
            GateFacts(installed=True, enabled=True, version="0.0.1", refused=True, took_ms=24.3),
            snapshot("""\
✗ gate      installed plugin is that of 0.0.1; this is asbuilt [VERSION]
            Why:  Hook and commands of two versions may differ in what they
                  keep.
            Next: asbuilt init --claude
"""),
        ),
        (
            GateFacts(installed=True, enabled=False, version=VERSION, refused=True, took_ms=24.3),
            snapshot("""\
! gate      installed hook refused a known-bad call in 24 ms, and is not enabled
            in Claude Code
            Next: asbuilt init --claude
"""),
        ),
        (
            GateFacts(installed=True, enabled=True, version=VERSION, said="exit 0"),
            snapshot("""\
✗ gate      installed hook let a known-bad call through: exit 0
            Why:  Claude Code runs a tool whenever the hook before it fails.
            Next: asbuilt init --claude
"""),
        ),
    ],
    ids=["not installed", "another version", "not enabled", "lets it through"],
)
def test_a_gate_that_does_not_hold_says_what_helps(gate: GateFacts, shown: str) -> None:
    assert _row(replace(READY, gate=gate), "gate").replace(VERSION, "[VERSION]") == shown


def test_a_dead_gate_is_a_problem_that_stops_no_run() -> None:
    facts = replace(READY, gate=GateFacts(installed=True, enabled=True, version=VERSION, said="exit 0"))
    told = conclusion(judge(facts), facts)
    assert told == "1 problem. Runs start; planning in Claude Code is not held."


def test_a_machine_that_is_kept_awake_says_by_what() -> None:
    power = PowerFacts(sleeps=True, told_by="logind", held_by="systemd-inhibit")
    assert _row(replace(READY, power=power), "power") == snapshot("""\
! power     this laptop sleeps when idle; systemd-inhibit keeps it awake while
            an agent works
""")


def test_what_cannot_be_told_has_no_row() -> None:
    names = [row.name for row in judge(replace(READY, gate=None, power=None, clock=None))]
    assert names == ["git", "agents", "sandbox", "tests", "store", "worker"]


@given(
    st.builds(
        GitFacts,
        version=st.none() | st.just("2.47.1"),
        repository=st.none() | st.text(min_size=1),
        branch=st.none() | st.text(min_size=1),
        has_commits=st.booleans(),
        changed=st.integers(0, 10**6),
        operations=st.just(()) | st.just(("merge",)),
    ),
    st.builds(
        StoreFacts,
        database=st.sampled_from(["SQLite", "Postgres"]),
        free_bytes=st.none() | st.integers(0, 10**15),
        schema=st.none() | st.integers(0, 5),
        known_schema=st.just(2),
    ),
    st.builds(WorkerFacts, running=st.booleans(), pid=st.none() | st.integers(1, 10**7)),
    st.integers(40, 80),
)
def test_a_problem_always_says_why_and_what_next_and_nothing_steers_the_terminal(
    git: GitFacts, store: StoreFacts, worker: WorkerFacts, width: int
) -> None:
    facts = replace(READY, git=git, store=store, worker=worker)
    rows = judge(facts)
    assert [row for row in rows if row.state is State.PROBLEM and not (row.why and row.next_step)] == []
    shown = _shown(facts, PLAIN._replace(width=width))
    assert printable(shown, lines=True) == shown
