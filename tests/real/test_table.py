"""The table of real projects holds what its docs promise, without any of them being downloaded."""

from __future__ import annotations

import tomllib

import pytest

from tests.real.counts import ran
from tests.real.page import PAGE, render
from tests.real.table import Project, projects

# The projects that the first trial by hand was made with.
_FIRST = {
    "attrs", "cjson", "click", "commons-cli", "cookiecutter", "djangorestframework", "express", "flask",
    "node-glob", "pflag", "poetry-core", "requests", "semver", "tornado", "zod", "zustand",
}  # fmt: skip


def test_there_are_enough_projects_of_enough_kinds() -> None:
    table = projects()

    assert len(table) >= 20
    assert len({project.kind.split(",")[0] for project in table}) >= 8
    assert len({project.name for project in table} - _FIRST) >= 5


def test_the_slice_has_six_projects_of_five_kinds_and_needs_no_snapshot() -> None:
    chosen = [project for project in projects() if project.slice]

    assert len(chosen) >= 6
    assert len({project.kind.split(",")[0] for project in chosen}) >= 5
    assert [project.name for project in chosen if project.source.registry == "snapshot"] == []


@pytest.mark.parametrize("project", projects(), ids=lambda project: project.name)
def test_a_project_has_a_plan_and_scripts_that_can_be_read(project: Project) -> None:
    honest = tomllib.loads(project.honest_script("make test"))
    broken = tomllib.loads(project.broken_script("make test"))

    assert project.honest_plan().count("\n## Phase ") == 2
    assert "$" not in project.honest_plan()
    assert honest["turn"][0]["acts"][0]["run"].startswith("{ make test\n}")
    assert project.broken.name in broken["turn"][0]["acts"][0]["new"]
    assert project.broken.name not in broken["turn"][0]["acts"][0]["old"]


def test_the_page_shows_the_latest_results() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "write it: just real --write"


@pytest.mark.parametrize(
    ("output", "tests"),
    [
        ("3 failed, 40 passed, 2 skipped in 1.2s", 45),
        ("===== 40 passed, 1 xfailed, 2 warnings in 0.40s =====", 41),
        ("Ran 12 tests in 0.1s\n\nOK (skipped=1)", 12),
        ("# tests 7\n# pass  7", 7),
        ("  5 passing (10ms)\n  1 pending\n", 6),
        ("test result: ok. 3 passed; 0 failed; 1 ignored\ntest result: ok. 2 passed; 0 failed; 0 ignored", 6),
        ("100% tests passed, 0 tests failed out of 19", 19),
        ("Ok:                 6\nExpected Fail:      0\nFail:               1\n", 7),
        ("ok  \tpkg\t0.1s\n== counts\ngo: 31\n", 31),
        ("9 passed in 1s\n== counts\ngo: 0\n8 passed, 1 failed in 2.0s\n", 9),
        ("make: Nothing to be done", None),
    ],
)  # fmt: skip
def test_a_suite_s_own_output_says_how_many_tests_it_has(output: str, tests: int | None) -> None:
    assert ran(output) == tests
