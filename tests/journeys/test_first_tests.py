"""A plan brings a repository's first tests: it runs, lands and is undone without a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.test_commands import office
from tests.journeys.test_next_steps import code_of, nexts

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office

__all__ = ["office"]
pytestmark = pytest.mark.crash
PLAN = """\
# Slugs

## Phase 1 — Module

### Work Items

- [ ] `slugs.py` has `slug`

### Verification

`python3 -m unittest tests.test_slug`

## Phase 2 — Back

### Work Items

- [ ] `slugs.py` has `unslug`

### Verification

`python3 -m unittest tests.test_unslug`
"""
SCRIPT = """\
[[turn]]
phase = "1"
role = "implement"
acts = [
  { write = "slugs.py", text = "def slug(title):\\n    return title.lower().replace(' ', '-')\\n" },
  { write = "tests/__init__.py", text = "" },
  { write = "tests/test_slug.py", text = '''
import unittest
from slugs import slug


class Slug(unittest.TestCase):
    def test_slug(self):
        self.assertEqual(slug("A B"), "a-b")
''' },
]

[[turn]]
phase = "2"
role = "implement"
acts = [
  { append = "slugs.py", text = "\\n\\ndef unslug(slug):\\n    return slug.replace('-', ' ')\\n" },
  { write = "tests/test_unslug.py", text = '''
import unittest
from slugs import unslug


class Unslug(unittest.TestCase):
    def test_unslug(self):
        self.assertEqual(unslug("a-b"), "a b")
''' },
]

[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""
PYPROJECT = """\
[project]
name = "slugs"
version = "0.1"

[tool.setuptools]
py-modules = []

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
SET = 'asbuilt config set checks.tests "python -m pytest -q"'


@pytest.fixture
def first(office: Office) -> Office:
    """Give a repository with a plan and a README, and no test."""
    office.script.write_text(SCRIPT, encoding="utf-8")
    (office.shop / "plans/greet.md").write_text(PLAN, encoding="utf-8")
    office.git("commit", "-qam", "plan")
    return office


def _undone(office: Office) -> None:
    undone = office.asbuilt("land", "greet", "--undo")
    assert "reverted on main; the plan is open again." in undone
    assert "BASELINE  PASS there were no tests before this plan's work\n" in undone
    assert "tests" not in office.git("ls-tree", "--name-only", "HEAD").split()


def test_phases_that_land_one_by_one_are_proven_by_the_tests_that_the_first_one_added(first: Office) -> None:
    assert "landed on main: 1 phase proven" in first.run("--auto")
    second = first.asbuilt("run", "greet", "--auto")
    assert "TESTS     python -m pytest -q (added by this plan)\n" in second
    assert "BASELINE  PASS 1 ran, 0 skipped\n" in second
    assert "landed on main: 1 phase proven" in second


def test_first_tests_that_fail_do_not_land_with_the_work_that_they_came_with(first: Office) -> None:
    """The plan's own checks only look whether the files are there."""
    checked = PLAN.replace("python3 -m unittest tests.test_slug", "test -f tests/test_slug.py")
    checked = checked.replace("python3 -m unittest tests.test_unslug", "test -f tests/test_unslug.py")
    (first.shop / "plans/greet.md").write_text(checked, encoding="utf-8")
    first.git("commit", "-qam", "weaker checks")
    good = first.script.read_text(encoding="utf-8")
    first.script.write_text(good.replace('unslug("a-b"), "a b"', 'unslug("a-b"), "a_b"'), encoding="utf-8")
    failed = " ".join(first.run("--finish", "--auto").split())
    assert "failed: the phases pass one by one, but not together: tests: FAIL, 1 test fails" in failed
    assert "tests" not in first.git("ls-tree", "--name-only", "HEAD").split()
    first.script.write_text(good, encoding="utf-8")
    assert "2 phases proven" in " ".join(first.run("--finish", "--auto").split())


def test_proven_phases_land_later_and_are_undone_without_a_question(first: Office) -> None:
    assert nexts(first.run()) == ["asbuilt run greet"]
    assert nexts(first.asbuilt("run", "greet")) == ["asbuilt land greet"]
    landed = first.asbuilt("land", "greet")
    assert "landed on main: 2 phases proven" in landed
    assert "TESTS     python -m pytest -q (added by this plan)\n" in landed
    _undone(first)
    assert code_of(first.asbuilt("doctor", "--tests")) == 0


def test_a_plan_that_landed_at_once_is_undone_without_a_question(first: Office) -> None:
    assert "landed on main: 2 phases proven" in first.run("--finish", "--auto")
    tried = first.asbuilt("doctor", "--tests")
    assert (code_of(tried), nexts(tried)) == (0, [SET])
    _undone(first)


def test_a_test_command_that_runs_no_test_yet_is_saved_and_counts_from_the_first_test_on(
    first: Office,
) -> None:
    (first.shop / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    first.git("add", "pyproject.toml")
    first.git("commit", "-qm", "project")
    saved = first.asbuilt("doctor", "--tests", "--save")
    assert "no tests yet; it counts once there are some" in saved
    assert (code_of(saved), saved.count("Trying ")) == (0, 1)
    landed = first.run("--finish", "--auto")
    assert "BASELINE  PASS no tests yet; until the plan adds some, only its…\n" in landed
    assert "landed on main: 2 phases proven" in landed
    report = first.asbuilt("report", "greet", "--markdown")
    assert "| `python -m pytest -q` | **PASS** | 0 | 2 | 0 | 0 |" in report
    _undone(first)


def test_a_found_command_that_runs_no_test_yet_needs_no_setting(first: Office) -> None:
    (first.shop / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    first.git("add", "pyproject.toml")
    first.git("commit", "-qm", "project")
    landed = first.run("--auto")
    assert "TESTS     python -m pytest -q (detected)\n" in landed
    assert "landed on main: 1 phase proven" in landed
    second = first.asbuilt("run", "greet", "--auto")
    assert "TESTS     python -m pytest -q (added by this plan)\n" in second
    assert "landed on main: 1 phase proven" in second


def test_a_suite_that_loses_its_tests_again_blocks_the_phase_that_removes_them(first: Office) -> None:
    (first.shop / "asbuilt.toml").write_text('checks.tests = "python -m pytest -q"\n', encoding="utf-8")
    removes = (
        'role = "implement"\nacts = [{ delete = "tests/test_slug.py" }, { delete = "tests/__init__.py" },'
    )
    first.script.write_text(
        SCRIPT.replace("python3 -m unittest tests.test_unslug", "true").replace(
            'phase = "2"\nrole = "implement"\nacts = [', f'phase = "2"\n{removes}'
        ).replace("tests/test_unslug.py", "check_unslug.py"),
        encoding="utf-8",
    )  # fmt: skip
    (first.shop / "plans/greet.md").write_text(
        PLAN.replace("python3 -m unittest tests.test_unslug", "python3 check_unslug.py"), encoding="utf-8"
    )
    first.git("commit", "-qam", "check")
    failed = first.run("--finish", "--auto")
    assert code_of(failed) == 1
    assert "tests: NOT_RUN, 0 tests ran" in " ".join(failed.split())


def test_a_check_that_runs_no_test_after_the_work_is_no_proof(first: Office) -> None:
    first.script.write_text(SCRIPT.replace("    def test_slug(self)", "    def slug(self)"), encoding="utf-8")
    script = "python3 -m unittest tests.test_slug || [ $? -eq 5 ]\n"
    (first.shop / "run.sh").write_text(script, encoding="utf-8")
    (first.shop / "plans/greet.md").write_text(
        PLAN.replace("`python3 -m unittest tests.test_slug`", "`sh run.sh`"), encoding="utf-8"
    )
    first.git("add", ".")
    first.git("commit", "-qm", "check")
    failed = first.run("--auto")
    assert code_of(failed) == 1
    assert "sh run.sh: NOT_RUN, exit 0, but no test ran, so it proves nothing" in " ".join(failed.split())
