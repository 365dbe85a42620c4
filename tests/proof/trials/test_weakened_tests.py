"""What follows from the base's tests on the new code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.counts import Counts, failures_in
from asbuilt.proof.remarks import Remark
from asbuilt.proof.suites.model import Kind, Order, Severity
from asbuilt.proof.trials.weakened_tests import (
    Helper,
    OldTest,
    Then,
    how_it_failed,
    may_help,
    message_of,
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


LOOSER = _old(then="red", was="close(a, 9, places=7)", became="close(a, 9, places=1)", earlier=True)
LESS = _old(then="red", was="assert a == 1\nassert b == 2", became="assert a", earlier=True)


@pytest.mark.parametrize(
    ("old", "text", "severity"),
    [
        (LOOSER, "- [ ] `pricing.py` is faster", "sign_off"),
        (LESS, "- [ ] `pricing.py` is faster", "fails"),
        (LESS, f"- [ ] Change {FILE}", "fails"),
        (LOOSER, "- [ ] Change `test_heavy` to use a helper `near`", "sign_off"),
        (LESS, "- [ ] Do not change `test_heavy`", "fails"),
        (LESS, "- [ ] Remove an assertion of `test_heavy`", "allowed"),
        (LOOSER, "- [ ] Loosen `test_heavy`: 1 place is enough", "allowed"),
        (LOOSER, f"**Allows:** change {FILE}", "allowed"),
        (LESS, f"**Allows:** removal {FILE}", "allowed"),
    ],
)
def test_an_earlier_phase_may_order_what_an_older_text_of_a_test_shows(
    old: OldTest, text: str, severity: str
) -> None:
    (found,) = with_old_tests((), [old], NO_ORDER, is_green=True, is_compared=True, before=[Order(text)])
    assert (found.rule, found.severity.value) == ("old-test-fails", severity)
    assert found.was == "it passed before an earlier phase changed it"


@pytest.mark.parametrize(
    ("was", "became", "is_asked"),
    [
        ("assert total(9) == 3", "assert cart(9) == 3", False),
        ("assert total(9) == 3", "assert cart(9) <= 3", True),
        ("assert total(9) == 3", "assert abs(cart(9) - 3) < 0.1", True),
        ("assert total(9) == 3.1", "assert cart(9) == approx(3.1)", False),
        ("assert total(9) == 3.1", "assert cart(9) == approx(3.1, abs=2)", True),
        ("self.assertEqual(total(9), 3)", "self.assertIn(cart(9), (3, 4))", True),
        ("assert.strictEqual(total(9), 3);", "assert.strictEqual(cart(9), 3);", False),
        ("assert.strictEqual(total(9), 3);", "assert.ok(cart(9) > 3);", True),
        ("expect(total(9)).toBe(3)", "expect(cart(9)).toBeGreaterThan(3)", True),
        ("if total(9) != 3 {\n\tt.Error()", "if cart(9) < 3 {\n\tt.Error()", True),
        ("if total(9) != 3 {\n\tt.Error()", "if cart(9) != 3 {\n\tt.Error()", False),
    ],
)
def test_a_comparison_that_became_less_exact_in_a_test_that_no_longer_loads_is_asked_about(
    was: str, became: str, *, is_asked: bool
) -> None:
    old = _old(then="load", was=was, became=became)
    text = f"- [ ] Rename `total` to `cart`; the tests in `{FILE}` call it by its new name"
    found = with_old_tests((), [old], Order(text), is_green=False, is_compared=True)
    assert [one.severity for one in found] == ([Severity.SIGN_OFF] if is_asked else [])


def test_a_test_is_reported_once_with_its_two_older_texts() -> None:
    olds = [_old(then="red", was="assert a == 1", became="assert a == 2"), LESS]
    (found,) = with_old_tests((), olds, NO_ORDER, is_green=False, is_compared=True)
    assert (found.severity, found.was) == (Severity.SIGN_OFF, "it passed on the base")


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


BODY = "def test_heavy():\nassert shipping(2001) == 990"
GONE = _old("absent", was=BODY)
CASE = "no new test has its case: assert shipping(2001) == 990"
LOST = GONE._replace(lost="assert shipping(2001) == 990")
MERGED = _old("absent", "red", was=BODY, like="test_all", became="(1, 490)\nassert shipping(a) == b")


@pytest.mark.parametrize(
    ("old", "text", "severity"),
    [
        (GONE, "- [ ] Merge `test_light` and `test_heavy` into one", ""),
        (GONE, "- [ ] The tests of `shipping` become cases of one test", ""),
        (GONE, "- [ ] Do not merge `test_light` and `test_heavy`", "sign_off"),
        (LOST, "- [ ] Merge `test_light` and `test_heavy` into one", "sign_off"),
        (LOST, "- [ ] Merge `test_light` and `test_heavy` into one and delete the old ones", "sign_off"),
        (LOST, "- [ ] Merge `test_light` and `test_heavy`. Delete `test_heavy` then", "sign_off"),
        (LOST, "- [ ] Parametrise the tests of `shipping`", "sign_off"),
        (LOST, "- [ ] Merge `test_light` and `test_huge`; delete `test_heavy`", "allowed"),
        (LOST, "- [ ] Remove `test_heavy`, which is a slow test in a file of its own", "allowed"),
        (LOST, "- [ ] Merge `test_heavy` into `test_all`\n\n**Allows:** removal test_heavy", "allowed"),
        (LOST._replace(like="test_all"), "- [ ] `pricing.py` is faster", "sign_off"),
        (LOST._replace(now="passed"), "- [ ] `pricing.py` is faster", ""),
        (LOST._replace(now="passed"), "- [ ] Fold `test_light` into `test_heavy`", "sign_off"),
        (LOST._replace(then="red"), "- [ ] Combine `test_light` and `test_heavy`", "fails"),
        (LOST._replace(then="red"), "- [ ] Merge `shipping` into `total`", "fails"),
        (GONE._replace(then="load"), "- [ ] Merge `shipping` into `total`", "allowed"),
        (MERGED, "- [ ] Merge `test_light` and `test_heavy` into one", "sign_off"),
        (MERGED, "- [ ] `test_light` and `test_heavy` are now one test", "sign_off"),
        (MERGED, "- [ ] Rewrite `test_heavy`", "sign_off"),
        (
            MERGED._replace(became="(2001, 1290)"),
            "- [ ] Merge `test_light` and `test_heavy`\n- [ ] Shipping is 1290 instead of 990",
            "allowed",
        ),
    ],
)
def test_an_order_to_merge_tests_allows_neither_a_failure_nor_a_lost_case(
    old: OldTest, text: str, severity: str
) -> None:
    found = with_old_tests((), [old], Order(text), is_green=False, is_compared=True)
    assert [one.severity.value for one in found] == ([severity] if severity else [])
    assert all(one.now == CASE for one in found if old.lost and old.then == "passed")


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("- [ ] Merge `test_light` and `test_heavy` into one", "fails"),
        ("- [ ] Delete `test_heavy`", ""),
        ("- [ ] `pricing.py` is faster", ""),
    ],
)
def test_of_the_tests_that_are_gone_since_an_earlier_phase_those_that_it_merged_count(
    text: str, severity: str
) -> None:
    old = GONE._replace(then="red", earlier=True)
    found = with_old_tests((), [old], NO_ORDER, is_green=True, is_compared=True, before=[Order(text)])
    assert [one.severity.value for one in found] == ([severity] if severity else [])


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
    assert message_of(said, "test_heavy") == "AssertionError: 1 != 2 at 0x…"
    assert message_of("", "test_heavy") == ""


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
