"""What follows from the base's tests on the new code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.blocks import blocks, is_same_but_for_names, like, own_name
from asbuilt.proof.counts import Counts, failures_in
from asbuilt.proof.old_tests import (
    Helper,
    OldTest,
    Then,
    how_it_failed,
    is_settled_by_old_tests,
    said_of,
    states_in,
    with_old_tests,
)
from asbuilt.proof.remarks import Remark
from asbuilt.proof.suites.model import Kind, Order, Severity

FILE = "tests/test_shop.py"
NO_ORDER = Order("- [ ] `pricing.py` has `discounted`")
CHECKING = Helper(
    "def check(got, wanted):\n    assert got == wanted\n",
    "def check(got, wanted):\n    print(got == wanted)\n",
)
STRICTER = Helper(
    "def check(got, wanted):\n    assert got == wanted\n",
    "def check(got, wanted):\n    assert got is not None\n    assert got.cents == wanted\n",
)


@pytest.mark.parametrize(
    ("said", "body", "helpers", "how"),
    [
        ("assert 490 == 990", "tests/test_shop.py:3: AssertionError", {}, "red"),
        ("Failed: DID NOT RAISE <class 'TypeError'>", "", {}, "red"),
        ("ValueError: a price is below zero", "", {}, "red"),
        ("AssertionError: the log has no line\nTypeError: none", "", {}, "red"),
        ("AssertionError [ERR_ASSERTION]: Missing expected exception (TypeError).", "", {}, "red"),
        ("    shop_test.go:14: a price below zero was let through", "", {}, "red"),
        ("TypeError: shipping() missing 1 required positional argument: 'country'", "", {}, "load"),
        ("ERROR: test_a\nTraceback\nNameError: name 'x' is not defined", "", {}, "load"),
        ("E       fixture 'basket' not found", "", {}, "load"),
        ('failed on setup with "ValueError: no"', "", {}, "load"),
        ("  TypeError: shipping is not a function\n      at test.js:1:1", "", {}, "load"),
        ("FAIL\tshop [build failed]", "", {}, "load"),
        ("sh: 1: pricing: not found", "", {}, "load"),
        ("assert 1 == 2", "tests/checking.py:2: AssertionError", {"tests/checking.py": CHECKING}, "helper"),
        (
            "AssertionError: 1 != 2",
            'File "/c/tests/checking.py", line 2, in check',
            {"tests/checking.py": CHECKING},
            "helper",
        ),
        ("assert 1 == 2", "tests/checking.py:1: in check", {"tests/checking.py": CHECKING}, "red"),
        ("assert 1 == 2", "tests/checking.py:2: AssertionError", {"tests/checking.py": STRICTER}, "red"),
        ("assert 1 == 2", "tests/test_shop.py:2: AssertionError", {"tests/checking.py": CHECKING}, "red"),
    ],
)
def test_a_failed_assertion_is_told_from_a_test_that_cannot_be_loaded(
    said: str, body: str, helpers: dict[str, Helper], how: Then
) -> None:
    assert how_it_failed(said, body, helpers) == how


def _old(now: str = "passed", then: str = "passed", **more: object) -> OldTest:
    return OldTest("tests.test_shop::test_heavy", now, then, FILE, "assert 490 == 990")._replace(**more)  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize(
    ("old", "rule", "severity"),
    [
        (_old(), "", ""),
        (_old(then="red"), "old-test-fails", "sign_off"),
        (_old(then="helper"), "helper-checks-less", "fails"),
        (_old(then="load"), "", ""),
        (_old("skipped"), "test-skipped", "sign_off"),
        (_old("skipped", "red"), "test-skipped", "fails"),
        (_old("skipped", "load"), "test-skipped", "sign_off"),
        (_old("absent"), "test-removed", "sign_off"),
        (_old("absent", "red"), "test-removed", "fails"),
        (_old("absent", "load"), "test-removed", "sign_off"),
        (_old("absent", like="test_weighty"), "", ""),
        (_old("absent", "load", like="test_weighty"), "", ""),
        (_old("absent", "red", like="test_weighty"), "old-test-fails", "sign_off"),
    ],
)
def test_each_state_of_an_old_test_has_one_consequence(old: OldTest, rule: str, severity: str) -> None:
    found = with_old_tests((), [old], NO_ORDER, is_green=False)
    assert [(one.rule, one.severity.value, one.test) for one in found] == (
        [(rule, severity, "test_heavy")] if rule else []
    )


@pytest.mark.parametrize(
    ("old", "text"),
    [
        (_old("absent", "red"), "- [ ] Remove `test_heavy`"),
        (_old("absent"), "- [ ] Delete the test of heavy parcels, `test_heavy`"),
        (_old("absent", "load", path="tests/test_gift_wrapping.py"), "- [ ] Remove gift wrapping: unused"),
        (_old("skipped"), "- [ ] Skip `test_heavy` until the scale is there"),
        (
            _old(then="red", was="shipping(1) == 490", became='shipping(1) == "4.90"'),
            "- [ ] shipping is 4.90",
        ),
        (_old(then="red"), "- [ ] Update `test_heavy`"),
        (_old("absent", "red"), f"**Allows:** removal {FILE}"),
        (_old("absent", "red"), "**Allows:** removal `test_light`, `test_heavy`"),
        (_old("absent", "red"), "**Allows:** removal tests/"),
        (_old("skipped", "red"), "**Allows:** skip test_heavy"),
        (_old(then="red"), f"**Allows:** change {FILE}"),
    ],
)
def test_what_the_phase_orders_is_allowed_and_cited(old: OldTest, text: str) -> None:
    (found,) = with_old_tests((), [old], Order(text, 7), is_green=False)
    assert (found.severity, found.cited) == (Severity.ALLOWED, f"line 7: {text}")


@pytest.mark.parametrize(
    ("old", "text"),
    [
        (_old("absent", "red"), "- [ ] Do not remove `test_heavy`"),
        (_old("absent", "red", path="tests/test_gift_wrapping.py"), "- [ ] Remove gift wrapping: unused"),
        (_old("skipped", "red"), "- [ ] `test_heavy` keeps passing"),
        (_old("absent", "red"), "**Allows:** removal test_light"),
        (_old("absent", "red"), f"**Allows:** skip {FILE}"),
    ],
)
def test_a_test_that_is_only_named_is_not_ordered_away(old: OldTest, text: str) -> None:
    (found,) = with_old_tests((), [old], Order(text), is_green=False)
    assert found.severity is Severity.FAILS


def _suspected(kind: Kind, test: str = "test_heavy") -> Remark:
    return Remark(kind.value, Severity.FAILS, FILE, test)


@pytest.mark.parametrize(
    ("remark", "old", "severity"),
    [
        (_suspected(Kind.ASSERTION_WEAKENED), _old(), "note"),
        (_suspected(Kind.EXPECTATION_CHANGED, "ShopTest.test_heavy"), _old(), "note"),
        (_suspected(Kind.ASSERTION_WEAKENED), _old(then="red"), "fails"),
        (_suspected(Kind.ASSERTION_WEAKENED), _old(then="load"), "fails"),
        (_suspected(Kind.ASSERTION_WEAKENED, "test_light"), _old(), "fails"),
        (_suspected(Kind.ASSERTION_WEAKENED), _old("skipped"), "fails"),
        (_suspected(Kind.TEST_EMPTIED), _old(), "fails"),
        (_suspected(Kind.FAILURE_SWALLOWED), _old(), "fails"),
        (_suspected(Kind.TEST_REMOVED), _old("absent"), "fails"),
        (_suspected(Kind.TEST_REMOVED), _old("absent", like="test_weighty"), "note"),
        (_suspected(Kind.TEST_REMOVED), _old("absent", "load", like="test_b", renamed=True), "note"),
        (_suspected(Kind.TEST_REMOVED), _old("absent", "load", like="test_b"), "fails"),
        (_suspected(Kind.TEST_REMOVED), _old("absent", "red", like="test_b"), "fails"),
    ],
)
def test_a_suspicion_is_answered_by_the_old_test_itself(remark: Remark, old: OldTest, severity: str) -> None:
    answered = with_old_tests([remark], [old], NO_ORDER, is_green=old.then == "passed")[0]
    assert answered == remark._replace(severity=Severity(severity))


def test_a_golden_file_may_change_where_the_old_one_still_fits() -> None:
    remark = Remark(Kind.GOLDEN_CHANGED.value, Severity.SIGN_OFF, "tests/a.golden")
    found = [with_old_tests([remark], [], NO_ORDER, is_green=green) for green in (True, False)]
    assert found == [(remark._replace(severity=Severity.NOTE),), (remark,)]


def test_what_the_plans_own_check_reads_stays_as_strict_as_it_was() -> None:
    order = Order("", checks=(f"pytest {FILE}",))
    remark = _suspected(Kind.ASSERTION_WEAKENED)
    assert with_old_tests([remark], [_old()], order, is_green=True) == (remark,)


def test_a_person_is_asked_once_about_one_test() -> None:
    asked = _suspected(Kind.EXPECTATION_CHANGED)._replace(severity=Severity.SIGN_OFF)
    assert with_old_tests([asked], [_old(then="red")], NO_ORDER, is_green=False) == (asked,)


@given(st.sampled_from(Kind), st.sampled_from(Severity), st.booleans())
def test_without_a_run_of_the_old_tests_nothing_becomes_better(
    kind: Kind,
    severity: Severity,
    named: bool,  # noqa: FBT001  drawn
) -> None:
    remark = Remark(kind.value, severity, FILE, "test_heavy" if named else "")
    assert with_old_tests([remark], [], NO_ORDER, is_green=False) == (remark,)
    if is_settled_by_old_tests(remark):
        assert severity is Severity.FAILS


def test_of_a_test_with_parameters_the_worst_case_decides() -> None:
    counts = Counts(3, 1, 1, failures=("a::t[2]",), passed=("a::t[1]", "a::u"), others=("a::v", "a::u[x]"))
    assert states_in(counts) == {"a::t": "failed", "a::u": "passed", "a::v": "skipped"}
    assert states_in(None) == {}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("tests.test_shop.ShopTest::test_heavy[1-490]", "test_heavy"),
        ("tests.test_shop.ShopTest.test_heavy", "test_heavy"),
        ("test/a.test.js::shop > heavy parcels", "heavy parcels"),
        ("TestHeavy", "TestHeavy"),
        ("tests/test_total.sh", "test_total.sh"),
        ("test_total.sh", "test_total.sh"),
    ],
)
def test_a_test_has_a_name_of_its_own(name: str, own: str) -> None:
    assert own_name(name) == own


GO = """package shop

func TestHeavy(t *testing.T) {
	if got := Shipping(3000); got != 990 {
		t.Error(got)
	}
}

// Light ones.
func TestLight(t *testing.T) {
	if got := Shipping(1); got != 490 {
		t.Error(got)
	}
}
"""


def test_a_file_is_cut_into_the_texts_of_its_tests() -> None:
    parts = blocks(GO, ["TestLight", "TestHeavy", "TestNone"])
    assert {name: text.splitlines()[0] for name, text in parts.items()} == {
        "TestHeavy": "func TestHeavy(t *testing.T) {",
        "TestLight": "// Light ones.",
    }
    assert blocks("", ["TestLight"]) == {}
    assert blocks("exit 1\n", ["test_total.sh"], "tests/test_total.sh") == {"test_total.sh": "exit 1\n"}


def test_a_test_with_most_of_the_words_has_taken_its_place_and_no_other() -> None:
    heavy = blocks(GO, ["TestHeavy", "TestLight"])["TestHeavy"]
    renamed = heavy.replace("TestHeavy", "TestWeighty")
    other = (
        "func TestDiscount(t *testing.T) {\n\tif got := Discounted(8000, 25); got != 6000 {\n\t\tt.Error(got)"
    )
    assert like(heavy, {"TestDiscount": other, "TestWeighty": renamed}) == "TestWeighty"
    assert like(heavy, {"TestDiscount": other}) == ""
    assert like("", {"TestDiscount": other}) == ""


def test_a_case_of_a_table_has_taken_the_place_of_a_test_whatever_that_was_called() -> None:
    text = "def test_prices_add_up(basket):\n    assert total(basket) == 449\n"
    rows = (
        "@cases([([], 0), ([250, 199], 449)])\ndef test_total(given, sum):\n    assert total(given) == sum\n"
    )
    assert like(text, {"test_total": rows}, "test_prices_add_up") == "test_total"


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("assert shipping(1) == 490", "assert postage(1) == 490", True),
        ("assert shipping(1) == 490", "assert postage(1) == 491", False),
        ("assert a(1) == b(1)", "assert c(1) == c(1)", False),
        ("assert a(1) == a(2)", "assert b(1) == c(2)", False),
        ("assert a(1)", "assert a(1) or True", False),
    ],
)
def test_only_names_that_change_everywhere_leave_a_test_the_same(before: str, after: str, same: bool) -> None:  # noqa: FBT001  a column
    assert is_same_but_for_names(before, after) is same


def test_what_a_report_says_of_a_failure_is_read() -> None:
    junit = (
        b'<testsuite><testcase classname="a" name="t"><failure message="assert 1 == 2">tests/a.py:3</failure>'
        b'</testcase><testcase classname="a" name="u"/></testsuite>'
    )
    jest = (
        b'{"testResults": [{"name": "/c/test/a.js", "status": "failed", "assertionResults": ['
        b'{"ancestorTitles": ["s"], "title": "t", "status": "failed", '
        b'"failureMessages": ["TypeError: no"]}]}]}'
    )
    assert failures_in(junit) == {"a::t": ("assert 1 == 2", "assert 1 == 2\ntests/a.py:3")}
    assert failures_in(jest) == {"test/a.js::s > t": ("TypeError: no", "TypeError: no")}
    assert (failures_in(b"<broken"), failures_in(b"{")) == ({}, {})


def test_of_an_output_the_line_that_tells_most_is_shown() -> None:
    said = "FAIL: test_heavy (t)\nTraceback\n  File x\nAssertionError: 1 != 2 at 0x7f00deadbeef"
    assert said_of(said, "test_heavy") == "AssertionError: 1 != 2 at 0x…"
    assert said_of("", "test_heavy") == ""


@pytest.mark.parametrize(
    ("path", "is_green", "severity"),
    [
        ("test/twice.c", True, Severity.NOTE),
        ("test/twice.c", False, Severity.SIGN_OFF),
        ("tests/test_shop.py", True, Severity.SIGN_OFF),
    ],
)
def test_tests_that_nobody_here_reads_are_settled_by_the_old_ones(
    path: str, *, is_green: bool, severity: Severity
) -> None:
    asked = Remark(Kind.NOT_COMPARED, Severity.SIGN_OFF, path)
    assert with_old_tests([asked], [], NO_ORDER, is_green=is_green) == (asked._replace(severity=severity),)
