"""A test that fails by chance is told from one that is broken, and is never called proven by itself."""

from __future__ import annotations

import pytest

from asbuilt.proof.counts import Counts
from asbuilt.proof.evidence import Evidence, evidence_from
from asbuilt.proof.suites.model import Severity
from asbuilt.proof.trials.flakiness import Flaky, flaky_among, remarks_on_flaky, to_run_again

A, B = "tests.test_a::test_one", "tests.test_b::test_two"
BASE = Counts(2, 0, 0, passed=(A, B))
RED = Counts(2, 1, 0, failures=(A,), passed=(B,))
SHOWN = Evidence(
    "tests",
    ("pytest",),
    1,
    "FAIL",
    "1 test fails that did not before",
    2,
    0,
    1,
    "",
    1.0,
    "t",
    new_failures=(A,),
)


def test_only_what_passed_before_in_a_file_that_is_the_same_is_run_again() -> None:
    assert to_run_again(SHOWN, RED, [BASE], {}) == (A,)
    assert to_run_again(SHOWN, RED, [BASE], {"tests/test_b.py": ""}) == (A,)
    assert to_run_again(SHOWN, RED, [BASE], {"tests/test_a.py": ""}) == ()
    assert to_run_again(SHOWN, RED, [BASE._replace(passed=(B,))], {}) == ()
    assert to_run_again(SHOWN, RED._replace(failed=2), [BASE], {}) == ()
    assert to_run_again(SHOWN._replace(outcome="PASS"), RED, [BASE], {}) == ()
    assert to_run_again(SHOWN._replace(new_failures=()), RED, [BASE], {}) == ()


def test_a_title_that_no_changed_file_held_is_run_again_although_it_tells_no_file() -> None:
    title = "limits what runs at a time"
    shown = SHOWN._replace(new_failures=(title,))
    red, base = RED._replace(failures=(title,)), BASE._replace(passed=(title,))
    assert to_run_again(shown, red, [base], {"test/new.js": ""}) == (title,)
    assert to_run_again(shown, red, [base], {"test.js": f"test('{title}', …)"}) == ()


@pytest.mark.parametrize("again", [None, Counts(0, 0, 0), Counts(1, 1, 0, failures=(A,))])
def test_what_fails_again_or_does_not_run_is_broken(again: Counts | None) -> None:
    assert flaky_among((A,), again, [BASE]) is None


def test_what_passes_then_is_counted_with_the_bases_own_record() -> None:
    again = Counts(1, 0, 0, passed=(A,))
    failed = BASE._replace(failures=(A,), passed=(B,))
    assert flaky_among((A,), again, [BASE]) == (Flaky(A, 2, 3, was_so=False),)
    assert flaky_among((A,), again, [BASE, failed]) == (Flaky(A, 2, 4, was_so=True),)


def test_a_chance_that_nobody_knew_of_is_for_a_person_and_a_known_one_worth_a_line() -> None:
    found = remarks_on_flaky([Flaky(A, 2, 3, was_so=False), Flaky(B, 2, 4, was_so=True)])
    told = "flaky test: it failed, and passed when it was run again"
    assert [(one.words, one.severity) for one in found] == [
        (f"{A}: {told}: 2 of 3, and it never failed on the base", Severity.SIGN_OFF),
        (f"{B}: {told}: 2 of 4, and both on the base", Severity.NOTE),
    ]


def test_evidence_of_a_chance_is_read_back_as_it_was_kept() -> None:
    kept = SHOWN._replace(flaky=((A, 2, 3, False),))
    plain = {**kept._asdict(), "flaky": [[A, 2, 3, False]], "new_failures": [A]}
    assert evidence_from(plain) == kept
