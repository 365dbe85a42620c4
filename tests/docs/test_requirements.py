"""Every required behaviour has an answer that can be looked up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.docs.scripts import script

requirements = script("requirements")
ROWS = requirements.rows()
PROVEN = next(row for row in ROWS if row.state == "proven")
HERE = "tests/docs/test_requirements.py"
PURE = f"{HERE}::test_every_row_has_an_answer_that_exists"


def with_row(row: object) -> list[str]:
    """Give the problems that a row brings in the place of one that has none; the share is another matter."""
    found = requirements.problems([row if one is PROVEN else one for one in ROWS])
    return [problem for problem in found if not problem.startswith("only ")]


def test_every_row_has_an_answer_that_exists() -> None:
    assert list(requirements.problems(ROWS)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tests": ()}, "neither a test, nor a page, nor a reason"),
        ({"tests": (f"{HERE}::test_that_is_not_there",)}, f"there is no test {HERE}::test_that_is_not_there"),
        ({"tests": ("tests/nowhere.py::test_a",)}, "there is no test tests/nowhere.py::test_a"),
        (
            {"tests": ("tests/plan/test_cases.py::test_a_plan_reads_as_its_case_file_says[nowhere]",)},
            "there is no test tests/plan/test_cases.py::test_a_plan_reads_as_its_case_file_says[nowhere]",
        ),
        ({"superseded": "nowhere.md", "instead": "x"}, "there is no page docs/nowhere.md"),
        (
            {"superseded": "reference/plans.md#nowhere", "instead": "x"},
            "there is no page docs/reference/plans.md#nowhere",
        ),
        ({"superseded": "reference/plans.md"}, "a page and what it decides belong together"),
        ({"not_built": "no time"}, "not built and answered at once"),
        ({"kind": "Q"}, "'Q' is no kind"),
        (
            {"kind": "W", "superseded": "reference/plans.md", "instead": "x", "tests": ()},
            "its need has no test",
        ),
        ({"says": ""}, "it does not say what is required"),
        ({"by_claude_code": True}, "done by Claude Code, and no live test shows it"),
        ({"tests": (PURE,)}, "none of its tests starts asbuilt"),
    ],
)
def test_a_row_that_claims_what_is_not_there_is_a_problem(changes: dict[str, Any], problem: str) -> None:
    assert with_row(replace(PROVEN, **changes)) == [f"{PROVEN.id}: {problem}"]


def test_an_id_that_is_missing_or_unknown_is_a_problem() -> None:
    assert with_row(replace(PROVEN, id="Z9")) == [f"{PROVEN.id} has no row", "Z9 is no id"]


def test_too_few_stated_rows_that_are_proven_are_a_problem() -> None:
    stated = [row for row in ROWS if row.is_stated]
    given_up = {row.id for row in stated[: len(stated) // 10]}
    told = [
        replace(row, tests=(), superseded="", instead="", not_built="no time") if row.id in given_up else row
        for row in ROWS
    ]
    *_, problem = requirements.problems(told)
    assert problem.endswith("% of the stated rows are proven or superseded, 95% are needed")


def test_a_name_counts_only_where_it_is_a_test_of_its_file() -> None:
    row = replace(PROVEN, tests=(f"{HERE}::_load",))
    assert with_row(row) == [f"{row.id}: there is no test {HERE}::_load"]


def test_a_row_whose_tests_start_no_process_is_a_model_only() -> None:
    assert replace(PROVEN, tests=(PURE,)).state == "model only"
    assert replace(PROVEN, tests=(PURE, *PROVEN.tests)).state == "proven"


def test_the_list_has_only_tests_that_rows_name() -> None:
    assert requirements.unnamed() == []


def test_a_listed_test_that_did_not_prove_its_row_is_reported_with_row_and_remedy() -> None:
    of_one_row = sorted(test for test in requirements.entries() if " " not in ids(test))
    skipped = next(test for test in of_one_row if not is_spare(test))
    absent, idle, broken, long, *_ = (test for test in of_one_row if is_spare(test))
    others = requirements.entries() - {skipped, absent, idle, broken, long}
    record = {
        skipped: "skipped",
        f"{idle}[one]": "nothing",
        f"{idle}[two]": "skipped",
        broken: "failed",
        long: "long",
        **{f"{test}[one]": "nothing" for test in others},
        **{f"{test}[two]": "started" for test in others},
    }
    assert sorted(requirements.compare(record)) == sorted(
        [
            f"{absent} ({ids(absent)}) {requirements.PROBLEMS['absent']}",
            f"{idle} ({ids(idle)}) {requirements.PROBLEMS['nothing']}",
            f"{broken} ({ids(broken)}) {requirements.PROBLEMS['failed']}",
            f"{ids(skipped)}: {skipped}: {requirements.UNSEEN}",
        ]
    )
    assert sorted(requirements.notes(record)) == sorted(
        [
            f"{long} ({ids(long)}) {requirements.NOTES['long']}",
            f"{skipped} ({ids(skipped)}) {requirements.NOTES['skipped']}",
        ]
    )


def test_a_skipped_test_is_no_problem_where_another_shows_its_row() -> None:
    skipped = next(
        test for row in ROWS if len(listed := listed_of(row)) > 1 for test in listed if is_spare(test)
    )
    record = dict.fromkeys(requirements.entries(), "started") | {skipped: "skipped"}
    assert list(requirements.compare(record)) == []


def test_proven_rows_that_nothing_in_a_record_shows_are_named() -> None:
    assert requirements.unshown(dict.fromkeys(requirements.entries(), "started")) == []
    without = requirements.unshown(dict.fromkeys(requirements.entries() - listed_of(PROVEN), "started"))
    assert PROVEN.id in without


JOURNEYS = {"marks": "crash", "only": [""], "cut off": False, "ran": 300, "failed": 2}
LIVE = {"marks": "live and not long", "only": ["tests/live", ""], "cut off": False, "ran": 90, "failed": 0}
OTHERS = {
    "marks": "not crash and not live and not real", "only": [""], "cut off": False, "ran": 9, "failed": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("sessions", "told"),
    [
        ([JOURNEYS, LIVE, OTHERS], "The record is whole."),
        ([JOURNEYS, OTHERS], "The record is PARTIAL: `just live-slice` did not run"),
        (
            [LIVE, OTHERS | {"cut off": True}],
            "The record is PARTIAL: `just journeys` did not run; `just test` was cut off after 9 tests",
        ),
        (
            [JOURNEYS | {"only": ["tests/tasks", ""]}, LIVE, OTHERS],
            "The record is PARTIAL: only a part of `just journeys` ran",
        ),
        ([JOURNEYS | {"only": ["claims"]}, JOURNEYS, LIVE, OTHERS], "The record is whole."),
    ],
)
def test_a_partial_record_is_told_from_a_whole_one(sessions: list[dict[str, Any]], told: str) -> None:
    *ran, last = requirements.extent(sessions)
    assert last == told
    assert ("`just journeys`: 300 tests ran, 2 failed" in ran) is (JOURNEYS in sessions)


def ids(test: str) -> str:
    return " ".join(row.id for row in ROWS if test in {name.partition("[")[0] for name in row.tests})


def listed_of(row: Any) -> set[str]:  # noqa: ANN401 - of a module that is loaded by its path
    return {test for name in row.tests if (test := name.partition("[")[0]) in requirements.entries()}


def is_spare(test: str) -> bool:
    return all(len(listed_of(row)) > 1 for row in ROWS if test in listed_of(row))
