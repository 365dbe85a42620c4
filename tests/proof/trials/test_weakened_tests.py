"""What follows from the base's tests on the new code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.counts import Counts, failures_in
from asbuilt.proof.remarks import Remark
from asbuilt.proof.suites.model import Kind, Order, Severity
from asbuilt.proof.trials.test_text import blocks, is_same_but_for_names, like, own_name
from asbuilt.proof.trials.weakened_tests import (
    Helper,
    OldTest,
    Then,
    how_it_failed,
    may_help,
    said_of,
    states_in,
    with_old_inline,
    with_old_tests,
)

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
        (_old(then="red", was="assert a == 1\nassert b", became="print(a)"), "old-test-fails", "fails"),
        (_old(then="red", was="assert a == 1", became="assert a"), "old-test-fails", "fails"),
        (_old(then="red", was="assert a == 1", became="assert a == 2"), "old-test-fails", "sign_off"),
        (_old(then="load"), "", ""),
        (_old(then="load", was="assert f(1) == 490", became="assert f(1, 'EU') == 490"), "", ""),
        (
            _old(then="load", was="assert f(1) == 490", became="assert g(1) == 491"),
            "not-compared",
            "sign_off",
        ),
        (_old(then="load", was="assert f(1) == 490", became="g(1, 490)"), "not-compared", "sign_off"),
        (_old(then="load", was="assert f(1) == 490", became="g(490)", renamed=True), "", ""),
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
    found = with_old_tests((), [old], NO_ORDER, is_green=False, is_compared=True)
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
    (found,) = with_old_tests((), [old], Order(text, 7), is_green=False, is_compared=True)
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
    (found,) = with_old_tests((), [old], Order(text), is_green=False, is_compared=True)
    assert found.severity is Severity.FAILS


GOLDEN = Remark(Kind.GOLDEN_CHANGED.value, Severity.SIGN_OFF, "tests/a.golden")
CHANGED = Remark(Kind.NOT_COMPARED.value, Severity.SIGN_OFF, FILE)


@pytest.mark.parametrize(
    ("remark", "is_green", "is_compared", "severity"),
    [
        (GOLDEN, True, True, "note"),
        (GOLDEN, False, True, "sign_off"),
        (CHANGED, True, True, "note"),
        (CHANGED, False, True, "note"),
        (CHANGED, False, False, "sign_off"),
        (CHANGED._replace(severity=Severity.ALLOWED), False, False, "allowed"),
        (GOLDEN._replace(rule=Kind.FAILURE_SWALLOWED.value), True, True, "sign_off"),
        (GOLDEN._replace(rule="ci-changed"), True, True, "sign_off"),
    ],
)
def test_what_only_a_run_can_tell_is_answered_by_the_run(
    remark: Remark, *, is_green: bool, is_compared: bool, severity: str
) -> None:
    found = with_old_tests([remark], [], NO_ORDER, is_green=is_green, is_compared=is_compared)
    assert found == (remark._replace(severity=Severity(severity)),)


@pytest.mark.parametrize(
    ("golden", "old", "severity"),
    [
        ("allowed", _old(then="red"), "allowed"),
        ("sign_off", _old(then="red"), "sign_off"),
        ("allowed", _old(then="red", was="assert a == 1", became="assert a == 2"), "sign_off"),
    ],
)
def test_a_test_that_fails_only_with_the_old_data_is_ordered_with_the_new(
    golden: str, old: OldTest, severity: str
) -> None:
    data = GOLDEN._replace(severity=Severity(golden), cited="line 3: new totals")
    _, found = with_old_tests([data], [old], NO_ORDER, is_green=False, is_compared=True)
    cited = "line 3: new totals" if severity == "allowed" else ""
    assert (found.rule, found.severity.value, found.cited) == ("old-test-fails", severity, cited)


def test_a_test_that_the_plans_own_check_reads_may_not_check_less() -> None:
    order = Order("", checks=(f"pytest {FILE}",))
    less = _old(was="assert price() == 490", became="assert price()")
    (asked,) = with_old_tests([CHANGED], [less], order, is_green=True, is_compared=True)
    now = "one of the phase's checks reads it, and it checks less"
    assert asked == CHANGED._replace(test="test_heavy", now=now, identity="")
    more = _old(was="", became="assert price(2) == 990")
    (noted,) = with_old_tests([CHANGED], [more], order, is_green=True, is_compared=True)
    assert noted == CHANGED._replace(severity=Severity.NOTE)


@given(st.sampled_from(Kind), st.sampled_from(Severity))
def test_without_a_run_of_the_old_tests_nothing_becomes_better(kind: Kind, severity: Severity) -> None:
    remark = Remark(kind.value, severity, FILE)
    assert with_old_tests([remark], [], NO_ORDER, is_green=False, is_compared=False) == (remark,)


INLINE = b"""pub fn twice(n: u32) -> u32 { n * 2 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two() { assert_eq!(twice(2), 4); }
}
"""


def test_a_rust_source_gets_the_tests_back_that_it_held() -> None:
    now = INLINE.replace(b"n * 2", b"n").replace(b"assert_eq!(twice(2), 4);", b"twice(2);")
    assert with_old_inline(INLINE, now) == INLINE.replace(b"n * 2", b"n")
    assert with_old_inline(INLINE, INLINE.replace(b"n * 2", b"n")) is None
    assert with_old_inline(b"fn a() {}\n", now) is None


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
    ("path", "text", "helps"),
    [
        ("support/check.js", 'const assert = require("node:assert");\n', True),
        ("shop/testing_helpers.py", "import pytest\n", True),
        ("helpers.go", 'import (\n\t"testing"\n)\n', True),
        ("shop.py", "import pytest\n", False),
        ("support/check.js", "module.exports = {};\n", False),
        ("shop/utils.py", "def total(prices):\n    assert prices\n", False),
    ],
)
def test_a_helper_is_told_from_a_product_that_only_tests_import(path: str, text: str, *, helps: bool) -> None:
    assert may_help(path, text) is helps
