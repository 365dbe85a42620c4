"""Texts of tests: found by name, compared, and told from new tests."""

from __future__ import annotations

import pytest

from asbuilt.proof.trials.test_text import blocks, is_changed_inside, is_same_but_for_names, like, own_name


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


@pytest.mark.parametrize(
    ("after", "is_changed"),
    [
        ("import a\n\n\ndef test_one():\n    got = a.one()\n    assert got == 1\n", False),
        ("import b\n\n\ndef test_one():\n    # why\n    got = a.one()\n    assert got == 1\n", False),
        ("import a\n\n\ndef test_one():\n    got = round(a.one())\n    assert got == 1\n", True),
        ("import a\n\n\ndef test_one():\n    got = a.one()\n    got = 1\n    assert got == 1\n", True),
        ("import a\n\n\ndef test_one():\n    got = a.one()\n", True),
    ],
)
def test_new_tests_imports_and_comments_leave_a_file_unchanged_inside(
    after: str, *, is_changed: bool
) -> None:
    before = "import a\n\n\ndef test_one():\n    got = a.one()\n    assert got == 1\n"
    assert is_changed_inside(before, after) is is_changed
    two = "\n\ndef test_two():\n    assert a.two() == 2\n"
    assert is_changed_inside(before, f"{after}{two}") is is_changed
