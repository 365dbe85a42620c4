from __future__ import annotations

from asbuilt.lifecycle.status.report import AttemptAccount, Decision, PhaseAccount, SignOff, Sums, notes, sums
from asbuilt.proof.remarks import Remark
from asbuilt.proof.suites.model import Severity
from tests.pages.accounts import FAILED, RICH


def test_a_waived_item_is_not_counted_as_proven() -> None:
    assert sums(RICH) == Sums(items=4, checks=3, items_proven=3, checks_passed=3, not_run=0, waived=1)


def test_no_item_of_an_unproven_phase_is_counted_as_proven() -> None:
    assert sums(FAILED) == Sums(items=2, checks=2, items_proven=0, checks_passed=1, not_run=0, waived=0)


def test_what_was_mended_begun_anew_or_never_proven_is_to_be_known() -> None:
    red = "tests: FAIL, 1 test fails that did not before"
    skipped = "landed without a sign-off: test skipped, tests/test_app.py:88, test_slow"
    assert notes(RICH) == [("2", f"1 fix: {red}"), ("2", skipped)]
    assert notes(FAILED) == [
        ("2", "restarted: stalled, no sign for 900 s"),
        ("2", f"not proven: {red}"),
    ]


def test_sign_offs_that_wait_and_that_were_given_are_to_be_known() -> None:
    gone = [
        Remark("test-removed", Severity.SIGN_OFF, "test/cart.test.js", name) for name in ("total", "empty")
    ]
    attempt = AttemptAccount(1, "implement", "done", "", "Done.", None, remarks=tuple(gone))
    phase = PhaseAccount("1", "API tax", (), (attempt,), "a" * 40, None)
    first, other = ("test removed, test/cart.test.js, total", "test removed, test/cart.test.js, empty")
    account = RICH._replace(phases=(phase,))
    assert notes(account) == [
        ("1", f"waits for a sign-off: {first}"),
        ("1", f"waits for a sign-off: {other}"),
    ]
    answers = {gone[0].key: SignOff("yes", "ada", "2026-11-15"), gone[1].key: SignOff("no", "ada", "", "why")}
    assert notes(account._replace(phases=(phase._replace(signed=answers),))) == [
        ("1", f"signed off by ada: {first}"),
        ("1", f"sign-off declined by ada: {other}"),
    ]
    asked = Decision("a1", "sign-off", "sign off a test", "yes", "ada", "2026-11-15", "")
    assert notes(RICH._replace(phases=(), decisions=(asked,))) == [("", "signed off by ada: sign off a test")]
