"""What a check shows before the work: told one by one, as rows and as problems of the plan."""

from __future__ import annotations

import pytest

from asbuilt.plan.model import Check
from asbuilt.plan.problems import Problem, Rule, Severity
from asbuilt.plan.reader import read
from asbuilt.proof.checks_before_work import (
    Before,
    Shown,
    Tried,
    judge,
    needs_shell,
    not_tried,
    parse_only,
    paths_in,
    problems_of,
    to_try,
    trial_summary,
)

PLAN = b"""\
# Limits

## Validation Commands

- `make lint`

## Phase 1 \xe2\x80\x94 Bucket \xe2\x9c\x85

### Verification

- `pytest -q tests/test_bucket.py`

## Phase 2 \xe2\x80\x94 Store

### Verification

- `pytest -q tests/test_store.py`
- `make lint`

## Phase 3 \xe2\x80\x94 Docs

### Verification

- `grep -q limits docs/limits.md`

## Verification

- `make check`
"""
THERE = frozenset({"src", "src/app.py", "tests", "tests/test_app.py", "scripts", "scripts/lint"})


@pytest.mark.parametrize(
    ("command", "shown", "before", "why"),
    [
        ("pytest -q tests/test_app.py", Shown(1, "1 failed"), Before.FAILS, "exit 1"),
        (
            "pytest -q tests/test_new.py::test_x",
            Shown(4, ""),
            Before.ABSENT,
            "tests/test_new.py is not there yet",
        ),
        ("test -f docs/new.md && true", Shown(1, ""), Before.ABSENT, "docs/new.md is not there yet"),
        ("pytest -q", Shown(0, "2 passed"), Before.PASSES, "exit 0 without any of the work"),
        ("cat docs/new.md || true", Shown(0, ""), Before.PASSES, "exit 0 without any of the work"),
        (
            "pyest -q",
            Shown(127, "sh: 1: exec: pyest: not found\n"),
            Before.NO_PROGRAM,
            "pyest is not installed",
        ),
        ("pyest -q", Shown(127, ""), Before.NO_PROGRAM, "pyest is not installed"),
        (
            "make x && pyest",
            Shown(127, "made\n/bin/sh: 1: pyest: not found\n"),
            Before.NO_PROGRAM,
            "pyest is not installed",
        ),
        (
            "pyest; x",
            Shown(127, "sh: line 1: x: command not found\n"),
            Before.NO_PROGRAM,
            "x is not installed",
        ),
        ("pyest tests/test_new.py", Shown(127, ""), Before.NO_PROGRAM, "pyest is not installed"),
        ("./scripts/new -q", Shown(127, ""), Before.ABSENT, "./scripts/new is not there yet"),
        ("scripts/lint -q", Shown(126, ""), Before.NO_PROGRAM, "scripts/lint cannot be started"),
        ("sleep 900", Shown(None, ""), Before.UNCLEAR, "it was ended by its time limit"),
        (
            "if true; then",
            Shown(2, "sh: 1: Syntax error: end of file unexpected\n", parses=False),
            Before.UNREADABLE,
            "sh: 1: Syntax error: end of file unexpected",
        ),
        ("(", Shown(2, "", parses=False), Before.UNREADABLE, "the shell cannot read it"),
    ],
)
def test_a_check_is_judged_by_what_it_did_before_the_work(
    command: str, shown: Shown, before: Before, why: str
) -> None:
    assert judge("2", Check(command, 7), shown, THERE) == Tried("2", command, 7, before, why)


def test_open_phases_and_the_whole_are_tried_and_what_is_done_is_not() -> None:
    plan = read(PLAN)
    wanted = [
        ("2", "pytest -q tests/test_store.py", 17),
        ("2", "make lint", 18),
        ("3", "grep -q limits docs/limits.md", 24),
        ("", "make lint", 5),
        ("", "make check", 28),
    ]
    assert [(phase, *check) for phase, check in to_try(plan)] == wanted
    assert [phase for phase, _ in to_try(plan, {"2"})] == ["1", "3", "", ""]


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("pytest -q tests/a.py::test_b ./src/ README.md", ["tests/a.py", "src", "README.md"]),
        ("python -m app.module --config=conf/x.toml", []),
        ("cat <docs/a.md | grep -c x/y && [ -e new/file ]", ["docs/a.md", "x/y", "new/file"]),
        ("ls /etc/passwd '*.py' $HOME/x", []),
        ("make check", []),
        ("A=1 python3 -c \"import importlib.util as u; u.spec_from_file('p', 'src/p.py')\"", ["src/p.py"]),
        (
            "test -d src && python3 -c 'import sys, os.path; sys.exit(os.path.isdir(\"x\"))' in.txt",
            ["in.txt"],
        ),
    ],
)
def test_words_that_may_be_files_of_the_project_are_told(command: str, paths: list[str]) -> None:
    assert paths_in(command) == paths


def test_only_what_a_shell_reads_is_parsed_by_it() -> None:
    assert (needs_shell("pytest -q"), needs_shell("a && b")) == (False, True)
    assert parse_only("a && b") == ("/bin/sh", "-n", "-c", "a && b")


def tried(phase: str, before: Before, *, line: int = 1) -> Tried:
    return Tried(phase, "x", line, before, "why")


def test_a_passing_check_is_a_warning_where_nothing_else_proves_the_phase() -> None:
    says = "`x` passes before the work, so it proves nothing of phase"
    advice = "Add a command that fails until the phase is done."
    rows = [
        tried("1", Before.PASSES),
        tried("1", Before.FAILS),
        tried("2", Before.PASSES, line=9),
        tried("", Before.PASSES),
        tried("3", Before.ABSENT),
    ]
    assert problems_of(rows) == [
        Problem(1, Severity.INFO, Rule.PROVES_NOTHING, f"{says} 1", advice),
        Problem(9, Severity.WARNING, Rule.PROVES_NOTHING, f"{says} 2", advice),
    ]


def test_a_check_that_can_never_run_is_an_error_and_one_that_was_not_tried_a_warning() -> None:
    rows = [
        tried("1", Before.UNREADABLE),
        tried("", Before.NO_PROGRAM),
        not_tried("2", Check("x", 1), "setup: exit 1"),
    ]
    assert [(one.severity, one.rule, one.message) for one in problems_of(rows)] == [
        (Severity.ERROR, Rule.UNREADABLE_CHECK, "`x` of phase 1 cannot be read: why"),
        (Severity.ERROR, Rule.NO_PROGRAM, "`x` of the whole cannot run: why"),
        (Severity.WARNING, Rule.UNTRIED_CHECK, "`x` of phase 2 could not be tried: setup: exit 1"),
    ]


def test_all_of_it_is_told_in_a_line() -> None:
    rows = [tried("1", one) for one in Before]
    assert trial_summary(rows) == (
        "2 fail before the work, as they should; 1 passes before the work and can prove nothing;"
        " 2 cannot run; 1 could not be tried (why)"
    )
    assert trial_summary([tried("1", Before.FAILS)]) == "1 fails before the work, as it should"
    assert trial_summary([tried("1", Before.PASSES)] * 2) == "2 pass before the work and can prove nothing"
