from __future__ import annotations

from asbuilt.lifecycle.status.report import Sums, notes, sums
from tests.pages.accounts import FAILED, RICH


def test_a_waived_item_is_not_counted_as_proven() -> None:
    assert sums(RICH) == Sums(items=4, checks=3, items_proven=3, checks_passed=3, not_run=0, waived=1)


def test_no_item_of_an_unproven_phase_is_counted_as_proven() -> None:
    assert sums(FAILED) == Sums(items=2, checks=2, items_proven=0, checks_passed=1, not_run=0, waived=0)


def test_what_was_mended_begun_anew_or_never_proven_is_to_be_known() -> None:
    red = "tests: FAIL, 1 tests fail that did not before"
    assert notes(RICH) == [("2", f"1 fix: {red}")]
    assert notes(FAILED) == [
        ("2", "restarted: stalled, no sign for 900 s"),
        ("2", f"not proven: {red}"),
    ]
