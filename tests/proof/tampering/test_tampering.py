from __future__ import annotations

import pytest

from asbuilt.proof.tampering import Change, Citation, Finding, Kind, Order, Severity, tampering
from tests.proof.tampering.cases import Case, load_all, told

CASES = load_all()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_change_of_a_suite_is_told_as_its_case_file_says(case: Case) -> None:
    assert told(tampering(case.changes, case.order)) == case.expected


def test_there_are_enough_lies_and_enough_honest_changes() -> None:
    honest = [case for case in CASES if case.is_honest]
    assert (len(CASES) - len(honest) >= 120, len(honest) >= 60) == (True, True)


BEFORE = b"from shop import total\n\ndef test_sum():\n    assert total([1, 2]) == 3\n"


def test_a_finding_says_what_was_and_what_is_with_both_lines() -> None:
    after = b"from shop import total\n\n\ndef test_sum():\n    assert total([1, 2])\n"
    assert tampering([Change("tests/test_a.py", BEFORE, after)], Order("", command="pytest")) == (
        Finding(
            Kind.ASSERTION_WEAKENED,
            Severity.FAILS,
            "tests/test_a.py",
            "test_sum",
            4,
            5,
            "total([1, 2]) == 3",
            "total([1, 2])",
            words=frozenset(("total", "1", "2", "3")),
        ),
    )


def test_what_the_plan_orders_is_allowed_and_cites_the_line_of_the_plan() -> None:
    order = Order("### Phase 2\n\n- [ ] Delete `test_sum`\n", first_line=40, command="pytest")
    (finding,) = tampering([Change("tests/test_a.py", BEFORE, b"")], order)
    assert (finding.severity, finding.cited) == (Severity.ALLOWED, Citation(42, "- [ ] Delete `test_sum`"))


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] Make test_sum pass",
        "- [ ] Do not delete test_sum",
        "- [ ] Delete the cache; test_sum must pass",
        "- [ ] Remove the loop but keep test_sum",
        "- [ ] test_sum is never skipped or removed",
        "- [ ] Fix the total without removing test_sum",
    ],
)
def test_a_plan_that_only_names_a_test_orders_nothing(text: str) -> None:
    (finding,) = tampering([Change("tests/test_a.py", BEFORE, b"")], Order(text, command="pytest"))
    assert (finding.kind, finding.severity, finding.cited) == (Kind.TEST_REMOVED, Severity.FAILS, None)


def test_no_plan_makes_a_check_right_that_cannot_fail() -> None:
    after = BEFORE.replace(b"total([1, 2]) == 3", b"True")
    order = Order("- [ ] Update test_sum and relax it", command="pytest")
    (finding,) = tampering([Change("tests/test_a.py", BEFORE, after)], order)
    assert (finding.kind, finding.severity) == (Kind.ALWAYS_TRUE, Severity.FAILS)


def test_settings_that_did_not_change_say_what_is_collected() -> None:
    settings = {"pytest.ini": b"[pytest]\npython_files = check_*.py\npython_functions = check_*\n"}
    before = BEFORE.replace(b"test_sum", b"check_sum")
    order = Order("", command="pytest", unchanged=settings)
    (finding,) = tampering([Change("checks/check_a.py", before, b"")], order)
    assert (finding.kind, finding.test) == (Kind.TEST_REMOVED, "check_sum")
