"""`plan check` says everything that is wrong, line by line; `--fix` writes what is missing and no more."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.plans import BRACKETS, CHECKLIST, NARRATIVE, RATE_LIMIT, on_terminal, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOGIN = """\
# Login

## Phase 1 — Form

### Verification

Looks right.

### Dependencies

None.

## Phase 4b — Session

### Acceptance Criteria

- [ ] exactly 57 tests

### Verification

- `pytest -q`

### Dependencies

Phase 9.
"""


def test_a_plan_without_fault_ends_with_0(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    assert asbuilt("plan", "check", "rate-limit") == snapshot("""\
exit 0
--- stdout
plans/rate-limit.md: no problems in 4 phases; 1 remark with -v.
--- stderr
Next: asbuilt doctor agents
  or  once an agent is installed: asbuilt run rate-limit
""")


def test_remarks_are_shown_when_asked_for(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, login=LOGIN)
    assert asbuilt("plan", "check", "login", "-v") == snapshot("""\
exit 1
--- stdout
plans/login.md:5: error: phase 1 has no check that can be run
  Add a command under Verification; "looks right" proves nothing. [no-check]
plans/login.md:17: info: pre-dispatch arithmetic check: exactly 57 tests skipped (no derivable rule)
  Nothing to do; a rule under Design & Constraints with the same `key` lets it
  be checked. [no-rule]
plans/login.md:25: error: phase 4b depends on phase 9, which does not exist
  Add phase 9, or remove it from the Dependencies line. [unknown-dependency]
2 errors in 2 phases.
--- stderr
Next: asbuilt plan check login
      # correct plans/login.md:5 first
""")


_SKIPPED = "info: pre-dispatch arithmetic check: exactly 57 tests skipped (no derivable rule)"


@pytest.mark.parametrize(
    ("design", "told"),
    [
        ("52 - 4 + 9", ""),
        ("52 - 4 + 10", "warning: says exactly 57; 52 - 4 + 10 is 58"),
        ("`52 - 4 + 10` of `login.py`", "warning: says exactly 57; 52 - 4 + 10 is 58"),
        ("__import__('os').getpid()", _SKIPPED),
        ("`$(id -u) + 1`", _SKIPPED),
        ("2 ** 9", _SKIPPED),
    ],
)
def test_a_number_is_compared_with_its_sum_and_nothing_but_sums_is_computed(
    asbuilt: Callable[..., str], shop: Path, design: str, told: str
) -> None:
    rule = f"### Design & Constraints\n\n- tests: {design}\n\n### Acceptance Criteria\n"
    put(shop, login=LOGIN.replace("### Acceptance Criteria\n", rule))
    lines = asbuilt("plan", "check", "login", "-v").splitlines()
    assert [line for line in lines if "57" in line] == [f"plans/login.md:21: {told}"] * bool(told)


def test_errors_end_with_1_and_warnings_alone_with_0(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, login=LOGIN, chores=CHECKLIST)
    assert asbuilt("plan", "check", "plans/login.md") == snapshot("""\
exit 1
--- stdout
plans/login.md:5: error: phase 1 has no check that can be run
  Add a command under Verification; "looks right" proves nothing. [no-check]
plans/login.md:25: error: phase 4b depends on phase 9, which does not exist
  Add phase 9, or remove it from the Dependencies line. [unknown-dependency]
2 errors in 2 phases; 1 remark with -v.
--- stderr
Next: asbuilt plan check login
      # correct plans/login.md:5 first
""")
    assert asbuilt("plan", "check", "chores") == snapshot("""\
exit 0
--- stdout
plans/chores.md:4: warning: phase tag-the-release has no check that can be run
  Add a command under Verification; "looks right" proves nothing. [no-check]
plans/chores.md:5: warning: phase announce-it has no check that can be run
  Add a command under Verification; "looks right" proves nothing. [no-check]
2 warnings in 3 phases.
--- stderr
Next: asbuilt doctor agents
  or  once an agent is installed: asbuilt run chores
""")


def test_without_a_name_every_plan_of_the_repository_is_checked(
    asbuilt: Callable[..., str], shop: Path, tmp_path: Path
) -> None:
    put(shop, login=LOGIN, rate_limit=RATE_LIMIT)
    (shop / "plans" / "big.md").write_bytes(b"x" * 2_000_001)
    own = tmp_path / "home" / ".claude" / "plans"
    own.mkdir(parents=True)
    (own / "mine.md").write_text(NARRATIVE)
    assert asbuilt("plan", "check") == snapshot("""\
exit 1
--- stdout
plans/big.md: error: has more than 2,000,000 bytes
plans/login.md:5: error: phase 1 has no check that can be run
  Add a command under Verification; "looks right" proves nothing. [no-check]
plans/login.md:25: error: phase 4b depends on phase 9, which does not exist
  Add phase 9, or remove it from the Dependencies line. [unknown-dependency]
2 errors in 2 phases; 1 remark with -v.
plans/rate-limit.md: no problems in 4 phases; 1 remark with -v.
3 plans, 2 with errors.
--- stderr
Next: asbuilt plan check big
      # correct plans/big.md first
""")


def test_where_there_are_none_the_way_to_the_first_is_shown(
    asbuilt: Callable[..., str], tmp_path: Path
) -> None:
    assert asbuilt("plan", "check") == snapshot("""\
exit 0
--- stdout
No plans here to check.
--- stderr
Next: asbuilt plan new "what you want"
""")
    assert asbuilt("plan", "check", cwd=tmp_path) == snapshot("""\
exit 0
--- stdout
No plans here to check.
--- stderr
Next: asbuilt plan new "what you want" --user
""")
    assert asbuilt("plan", "check", "--json") == snapshot("""\
exit 0
--- stdout
{"schema":"asbuilt.check/1","plans":[]}
""")


def test_outside_of_a_repository_the_users_own_plans_are_checked(
    asbuilt: Callable[..., str], tmp_path: Path
) -> None:
    own = tmp_path / "home" / ".claude" / "plans"
    own.mkdir(parents=True)
    (own / "mine.md").write_text(RATE_LIMIT)
    assert asbuilt("plan", "check", cwd=tmp_path) == snapshot("""\
exit 0
--- stdout
~/.claude/plans/mine.md: no problems in 4 phases; 1 remark with -v.
--- stderr
Next: asbuilt plan show mine
""")


def test_several_plans_are_summed_up(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT, again=RATE_LIMIT)
    assert asbuilt("plan", "check", "rate-limit", "again") == snapshot("""\
exit 0
--- stdout
plans/rate-limit.md: no problems in 4 phases; 1 remark with -v.
plans/again.md: no problems in 4 phases; 1 remark with -v.
2 plans, none with errors.
--- stderr
Next: asbuilt doctor agents
  or  once an agent is installed: asbuilt run rate-limit
""")


def test_as_json_it_is_one_line_with_a_schema(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, login=LOGIN)
    shown = asbuilt("plan", "check", "login", "--json").removeprefix("exit 1\n--- stdout\n")
    assert shown.count("\n") == 1
    told = json.loads(shown)
    problems = told["plans"][0].pop("problems")
    assert (told, [(one["line"], one["severity"], one["rule"]) for one in problems]) == snapshot(
        (
            {
                "schema": "asbuilt.check/1",
                "plans": [{"path": "plans/login.md", "slug": "login", "phases": 2, "written": []}],
            },
            [(5, "error", "no-check"), (17, "info", "no-rule"), (25, "error", "unknown-dependency")],
        )
    )
    assert [list(problem) for problem in problems[:1]] == snapshot(
        [["line", "severity", "rule", "message", "advice"]]
    )


def test_fix_writes_metadata_as_tbd_and_touches_nothing_else(asbuilt: Callable[..., str], shop: Path) -> None:
    text = RATE_LIMIT.replace("created: 2026-11-14\n", "")
    put(shop, rate_limit=text, nightly=BRACKETS)
    assert asbuilt("plan", "check", "rate-limit", "--fix") == snapshot("""\
exit 0
--- stdout
plans/rate-limit.md: wrote created: TBD
plans/rate-limit.md: no problems in 4 phases; 1 remark with -v.
--- stderr
Next: asbuilt doctor agents
  or  once an agent is installed: asbuilt run rate-limit
""")
    file = shop / "plans" / "rate-limit.md"
    assert file.read_text() == text.replace("issue: 42\n", "issue: 42\ncreated: TBD\n")
    before = file.stat()
    assert asbuilt("plan", "check", "rate-limit", "--fix") == snapshot("""\
exit 0
--- stdout
plans/rate-limit.md: no problems in 4 phases; 1 remark with -v.
--- stderr
Next: asbuilt doctor agents
  or  once an agent is installed: asbuilt run rate-limit
""")
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert asbuilt("plan", "check", "nightly", "--fix").split("\n")[2:4] == snapshot(
        [
            "plans/nightly.md: wrote Artifacts: TBD, Dependencies: TBD, Effort: TBD, Research",
            "                        Inputs: TBD, Standards: TBD, Type: TBD",
        ]
    )


def test_a_plan_that_is_not_there_or_cannot_be_read(asbuilt: Callable[..., str], shop: Path) -> None:
    put(shop, rate_limit=RATE_LIMIT)
    os.mkfifo(shop / "plans" / "pipe.md")
    assert asbuilt("plan", "check", "rate-limt") == snapshot("""\
exit 3
--- stderr
error: no plan "rate-limt". Did you mean rate-limit?
  Why:  Searched plans/, docs/plans/, specs/, openspec/changes/ and
        ~/.claude/plans/.
  Next: asbuilt plan check rate-limit
""")
    assert asbuilt("plan", "check", "plans/pipe.md") == snapshot("""\
exit 1
--- stderr
error: plans/pipe.md is not a file
  Why:  A plan is a Markdown file; a folder, pipe or device holds none.
  Next: asbuilt plan list
        # shows the plans that are here
""")


@pytest.mark.parametrize("more", [[], ["--no-color"]])
def test_on_a_terminal_only_the_severity_has_a_colour(
    shop: Path, environ: dict[str, str], more: list[str]
) -> None:
    put(shop, login=LOGIN)
    code, received = on_terminal(shop, environ, "plan", "check", "login", *more)
    shown = [row for row in received.split("\n") if "error" in row]
    assert (code, shown[0]) == (
        1,
        "plans/login.md:5: error: phase 1 has no check that can be run"
        if more
        else "plans/login.md:5: \x1b[31merror\x1b[0m: phase 1 has no check that can be run",
    )
