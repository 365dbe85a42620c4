"""What the doctor found is judged by pure rules and shown whole: wide, narrow, styled, plain and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import Is, snapshot
from msgspec.structs import replace

from asbuilt._version import VERSION
from asbuilt.cli.commands.doctor import page
from asbuilt.cli.commands.doctor.facts import GitFacts, StoreFacts, WorkerFacts
from asbuilt.cli.commands.doctor.page import State
from asbuilt.cli.commands.doctor.rows import conclusion, judge
from asbuilt.cli.ui.screen import Pen, printable
from asbuilt.cli.ui.symbols import ASCII, UNICODE
from tests.cli.machines import READY, TROUBLED

if TYPE_CHECKING:
    from asbuilt.cli.commands.doctor.facts import Facts

PLAIN = Pen(stream=None, styled=False, symbols=UNICODE, utf8=True)
STYLED, IN_ASCII = PLAIN._replace(styled=True), PLAIN._replace(symbols=ASCII, utf8=False)


def _shown(facts: Facts, pen: Pen = PLAIN) -> str:
    rows = judge(facts)
    return "\n".join(page.lines(pen, rows, conclusion(rows, facts))) + "\n"


def test_a_ready_machine_is_told_in_a_line_each() -> None:
    assert _shown(READY) == snapshot("""\
✓ git       2.47.1   shop-api, main, clean
✓ agents    claude 2.1.325 and codex 0.166.0
✓ sandbox   bubblewrap 0.11.0   a write and a connection were refused just now
✓ gate      installed hook refused a known-bad call in 24 ms
✓ tests     uv run pytest -q   from asbuilt.toml:2 (--tests also runs it)
✓ store     SQLite, schema 1, 61 GB free
○ worker    starts with the first run
! power     this laptop sleeps when idle; runs pause then, and continue
            afterwards
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
\x1b[33m!\x1b[0m \x1b[1mpower\x1b[0m     this laptop sleeps when idle; runs pause then, and continue
            afterwards
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
! power     this laptop sleeps when idle; runs pause then, and continue
            afterwards
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
            idle; runs pause then, and
            continue afterwards
Ready to be left alone.
""")


def test_every_problem_says_why_and_what_next() -> None:
    assert _shown(TROUBLED) == snapshot("""\
✓ git       2.43.0   shop-api, main, 2 files changed (yours; never touched)
✗ settings  asbuilt.toml:7: landing.mode "merge" is not cherry-pick, pr, direct
            Why:  A guessed landing could move the wrong branch.
            Fix:  Correct asbuilt.toml:7; asbuilt config show --origin shows who
                  sets what.
! agents    gemini (it says no version) found; only the scripted agent works
            here
✗ sandbox   AppArmor refuses bubblewrap a user namespace; Landlock is off
            Why:  kernel.apparmor_restrict_unprivileged_userns is 1, and no
                  profile excepts bwrap. It said: bwrap: setting up uid map:
                  Permission denied. An agent could write to all that you can.
            Fix:  asbuilt doctor --fix sandbox shows the change, then asks
            Or:   asbuilt config set sandbox.required false; reports then say so
✗ gate      installed hook let a known-bad call through: sh: 1: /gone/python:
            not found
            Why:  Claude Code runs a tool whenever the hook before it fails.
            Fix:  asbuilt init --claude
✗ tests     pytest -q   NOT_RUN on a clean checkout: 0 tests ran
            Why:  A run is measured against what the tests show before it; these
                  show nothing. Make the command pass from a fresh clone, or set
                  another: asbuilt.toml:2 names it.
            Fix:  asbuilt config set checks.tests "<command>"
                  # with your own command, for example npm test
✗ store     SQLite, 1 MB free
            Why:  Workspaces, outputs and the journal share this disk; a run
                  stops when it is full.
            Fix:  asbuilt clean --yes, or set ASBUILT_HOME to a folder on
                  another local disk.
✓ worker    running, pid 41822
! clock     it says a time 86400 s before asbuilt was installed
            Why:  Schedules and usage limits end by the clock; durations are
                  measured without it.
            Fix:  sudo timedatectl set-ntp true
5 problems. Fix them before you run a plan.
""")


def test_problems_in_colour() -> None:
    assert _shown(TROUBLED, STYLED) == snapshot("""\
\x1b[32m✓\x1b[0m \x1b[1mgit\x1b[0m       2.43.0   shop-api, main, 2 files changed (yours; never touched)
\x1b[31m✗\x1b[0m \x1b[1msettings\x1b[0m  asbuilt.toml:7: landing.mode "merge" is not cherry-pick, pr, direct
            Why:  A guessed landing could move the wrong branch.
            Fix:  Correct asbuilt.toml:7; \x1b[1masbuilt config show --origin\x1b[0m shows who
                  sets what.
\x1b[33m!\x1b[0m \x1b[1magents\x1b[0m    gemini (it says no version) found; only the scripted agent works
            here
\x1b[31m✗\x1b[0m \x1b[1msandbox\x1b[0m   AppArmor refuses bubblewrap a user namespace; Landlock is off
            Why:  kernel.apparmor_restrict_unprivileged_userns is 1, and no
                  profile excepts bwrap. It said: bwrap: setting up uid map:
                  Permission denied. An agent could write to all that you can.
            Fix:  \x1b[1masbuilt doctor --fix sandbox\x1b[0m shows the change, then asks
            Or:   \x1b[1masbuilt config set sandbox.required false\x1b[0m; reports then say so
\x1b[31m✗\x1b[0m \x1b[1mgate\x1b[0m      installed hook let a known-bad call through: sh: 1: /gone/python:
            not found
            Why:  Claude Code runs a tool whenever the hook before it fails.
            Fix:  \x1b[1masbuilt init --claude\x1b[0m
\x1b[31m✗\x1b[0m \x1b[1mtests\x1b[0m     pytest -q   NOT_RUN on a clean checkout: 0 tests ran
            Why:  A run is measured against what the tests show before it; these
                  show nothing. Make the command pass from a fresh clone, or set
                  another: asbuilt.toml:2 names it.
            Fix:  \x1b[1masbuilt config set checks.tests "<command>"\x1b[0m
                  \x1b[1m# with your own command, for example npm test\x1b[0m
\x1b[31m✗\x1b[0m \x1b[1mstore\x1b[0m     SQLite, 1 MB free
            Why:  Workspaces, outputs and the journal share this disk; a run
                  stops when it is full.
            Fix:  \x1b[1masbuilt clean --yes\x1b[0m, or set ASBUILT_HOME to a folder on
                  another local disk.
\x1b[32m✓\x1b[0m \x1b[1mworker\x1b[0m    running, pid 41822
\x1b[33m!\x1b[0m \x1b[1mclock\x1b[0m     it says a time 86400 s before asbuilt was installed
            Why:  Schedules and usage limits end by the clock; durations are
                  measured without it.
            Fix:  \x1b[1msudo timedatectl set-ntp true\x1b[0m
5 problems. Fix them before you run a plan.
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
  Fix:  Correct asbuilt.toml:7;
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
  Fix:  asbuilt doctor --fix sandbox
        shows the change, then asks
  Or:
        asbuilt config set sandbox.required false;
        reports then say so
✗ gate      installed hook let a
            known-bad call through: sh:
            1: /gone/python: not found
  Why:  Claude Code runs a tool whenever
        the hook before it fails.
  Fix:  asbuilt init --claude
✗ tests     pytest -q   NOT_RUN on a
            clean checkout: 0 tests ran
  Why:  A run is measured against what
        the tests show before it; these
        show nothing. Make the command
        pass from a fresh clone, or set
        another: asbuilt.toml:2 names
        it.
  Fix:
        asbuilt config set checks.tests "<command>"
        # with your own command, for example npm test
✗ store     SQLite, 1 MB free
  Why:  Workspaces, outputs and the
        journal share this disk; a run
        stops when it is full.
  Fix:  asbuilt clean --yes, or set
        ASBUILT_HOME to a folder on
        another local disk.
✓ worker    running, pid 41822
! clock     it says a time 86400 s
            before asbuilt was installed
  Why:  Schedules and usage limits end
        by the clock; durations are
        measured without it.
  Fix:  sudo timedatectl set-ntp true
5 problems. Fix them before you run a
plan.
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
                        "first_commit": "",
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
                        "lacking": [],
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
                    "facts": {
                        "command": "uv run pytest -q",
                        "origin": "asbuilt.toml:2",
                        "setup_origin": "",
                        "several": "",
                        "absent": "",
                        "tried": None,
                    },
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
                    "said": "this laptop sleeps when idle; runs pause then, and continue afterwards",
                    "why": "",
                    "next": "",
                    "or": "",
                    "facts": {"sleeps": True, "told_by": "logind", "held_by": None},
                },
            ],
        }
    )


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
