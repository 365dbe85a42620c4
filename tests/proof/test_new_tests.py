"""New tests in whose text nothing is checked."""

from __future__ import annotations

import pytest

from asbuilt.proof.new_tests import without_checks

GO = 'func TestTooWide(t *testing.T) {\n\tgot, err := Center("abcd", 3)\n\t%s\n}\n'


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("center_test.go", GO % 't.Logf("refused: %q, %v", got, err)', "TestTooWide"),
        (
            "tests/test_a.py",
            "def test_a():\n    price = total([1])\n    print(price)\n",
            "tests.test_a::test_a",
        ),
        ("test/a.test.js", 'test("adds up", () => {\n  total([1]);\n});\n', "adds up"),
        ("tests/test_total.sh", "sh pricing.sh total 1 > /dev/null\n", "test_total.sh"),
    ],
)
def test_a_test_that_looks_at_no_answer_is_named(path: str, text: str, name: str) -> None:
    own = name.rpartition("::")[2]
    assert without_checks({path: text}, [name]) == ((path, own),)
    assert without_checks({path: text}, ["another"]) == ()


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("center_test.go", GO % "if err == nil {\n\t\tt.Fatal(got)\n\t}", "TestTooWide"),
        ("center_test.go", GO % "sameLines(t, got, err)", "TestTooWide"),
        (
            "tests/test_a.py",
            "def test_a():\n    with pytest.raises(ValueError):\n        total(None)\n",
            "test_a",
        ),
        ("tests/test_a.py", "def test_a(self):\n    self.assertEqual(total([1]), 1)\n", "test_a"),
        ("test/a.test.js", 'test("adds up", () => expect(total([1])).toBe(1));\n', "adds up"),
        ("tests/a.rs", "#[test]\nfn one() {\n    assert_eq!(total(&[1]), 1);\n}\n", "one"),
        ("ShopTest.java", "@Test void one() {\n  assertThat(total(1)).isOne();\n}\n", "one"),
        ("tests/test_total.sh", '[ "$(sh pricing.sh total 1)" = 1 ]\n', "test_total.sh"),
    ],
)
def test_a_test_that_looks_at_one_is_not(path: str, text: str, name: str) -> None:
    assert without_checks({path: text}, [name]) == ()
