"""A case of an old test that no new test has is found by its values, in any language."""

from __future__ import annotations

import pytest

from asbuilt.proof.trials.lost_cases import NewTests

PYTHON = (
    "from fee import fee, toll\n\n\ndef test_light():\n    assert fee(1) == 490, 'light'\n\n\n"
    "def test_refused():\n    with pytest.raises(ValueError):\n        fee(-1)\n\n\n"
    "def test_toll():\n    assert toll(1) == 490\n\n\n"
    "def test_free():\n    cart = Cart('EU')\n    assert cart.is_free()\n"
)
GO = (
    'func TestLight(t *testing.T) {\n\tif Fee(1) != 490 {\n\t\tt.Errorf("got %d", Fee(1))\n\t}\n}\n\n'
    'func TestGift(t *testing.T) {\n\tif Fee(2001, Gift) != 0 {\n\t\tt.Fatal("no gift")\n\t}\n}\n'
)
RUST = (
    "#[test]\nfn light() {\n    assert_eq!(fee(1), 490);\n}\n\n"
    "#[test]\nfn heavy() {\n    assert_eq!(fee(2_001), 990);\n}\n"
)
JAVA = (
    "@Test\nvoid light() {\n  assertEquals(490, fee(1));\n}\n\n"
    "@Test\nvoid refused() {\n  assertThrows(IllegalArgumentException.class, () -> fee(-1));\n}\n"
)
JEST = (
    "test('light parcels', () => {\n  expect(fee(1)).toBe(490);\n});\n\n"
    "test('a name', () => {\n  expect(label({ to: 'Ann' })).toBe('to Ann');\n});\n"
)
TABLE = (
    "@pytest.mark.parametrize(('grams', 'cents'), [(1, 490), (2000, 490), (2001, 990)])\n"
    "def test_fee(grams, cents):\n    assert fee(grams) == cents\n"
)
LEAP = "def test_leap():\n    assert leap(2000)\n    assert not leap(1900)\n    assert leap(4) is True\n"
ADD = "def test_a():\n    assert add(1, 2) == 3\n\n\ndef test_b():\n    assert add(2, 1) == 3\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PYTHON, PYTHON),
        (PYTHON, PYTHON.replace(", 'light'", "").replace("test_", "test_it_")),
        (PYTHON, PYTHON.replace("cart", "basket").replace("with pytest", "with  pytest")),
        (
            PYTHON,
            (
                "@pytest.mark.parametrize('of', [fee, toll])\ndef test_all(of):\n    assert of(1) == 490\n"
                "    assert Cart('EU').is_free()\n    pytest.raises(ValueError, fee, -1)\n"
            ),
        ),
        (GO, 'cases := []struct{}{\n\t{1, None, 490},\n\t{2001, Gift, 0},\n}\nt.Run("x", Fee)\n'),
        (RUST, "for (grams, cents) in [(1, 490), (2001, 990)] {\n    assert_eq!(fee(grams), cents);\n}\n"),
        (
            JAVA,
            (
                '@CsvSource({"1, 490"})\nvoid fee(int g, int c) {\n  assertEquals(c, fee(g));\n'
                "  assertThrows(IllegalArgumentException.class, () -> fee(-1));\n}\n"
            ),
        ),
        (
            JEST,
            (
                "test.each([[1, 490]])('%d costs %d', (g, c) => {\n  expect(fee(g)).toBe(c);\n});\n"
                'test(\'both\', () => {\n  expect(label({ to: "Ann" })).toBe("to Ann");\n});\n'
            ),
        ),
        (TABLE, "fee(a)\nROWS = [\n    (990, 2001),\n    (490, 2000),\n    (490, 1),\n]\n"),
        (TABLE, "assert fee(1) == 490\nassert fee(2000) == 490\nassert fee(2001) == 990\n"),
        (
            TABLE,
            "    pytest.param(1, 490, id='light'),\n    param(2000, 490),\n    param(2001, 990)\nfee(g)",
        ),
        (
            TABLE,
            '[{"grams": 1, "cents": 490}, {"grams": 2000, "c": 490},\n{"grams": 2001, "c": 990}]fee(r)',
        ),
        (
            LEAP,
            "for year, so in [(2000, True), (1900, False)]:\n    assert leap(year) is so\nassert leap(4)\n",
        ),
        (
            "self.assertEqual(fee(1), 490, 'too much')\nassertTrue(fee(1), 'no fee')",
            "assertEqual(490, fee(1))",
        ),
        (ADD, "for total, a, b in [(3, 1, 2), (3, 2, 1)]:\n    assert add(a, b) == total\n"),
    ],
)
def test_a_case_in_another_form_is_kept(old: str, new: str) -> None:
    assert NewTests([old], new, new).lost(old, by_names=True) == ""


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        (PYTHON, PYTHON.replace("fee(-1)", "fee(1)"), "fee(-1)"),
        (PYTHON, PYTHON.replace("ValueError", "Exception"), "with pytest.raises(ValueError):"),
        (PYTHON, PYTHON.replace("toll", "fee"), "assert toll(1) == 490"),
        (PYTHON, PYTHON.replace("assert cart.is_free()", "print(cart)"), "assert cart.is_free()"),
        (PYTHON, PYTHON.replace("'EU'", "'US'"), "cart = Cart('EU')"),
        (GO, GO.replace("Gift", "0"), "if Fee(2001, Gift) != 0 {"),
        (RUST, "for (grams, cents) in [(1, 490)] {}  // (2001, 990)\n", "assert_eq!(fee(2_001), 990);"),
        (
            JAVA,
            "assertEquals(490, fee(1));\n/* IllegalArgumentException.class, -1 */\n",
            "assertThrows(IllegalArgumentException.class, () -> fee(-1));",
        ),
        (JEST, JEST.replace("'to Ann'", "label({})"), "expect(label({ to: 'Ann' })).toBe('to Ann');"),
        (TABLE, TABLE.replace("(2000, 490), ", ""), "(2000, 490)"),
        (TABLE, TABLE.replace("(2000, 490)", "(1999, 490)"), "(2000, 490)"),
        (TABLE, TABLE.replace("(2000, 490), ", "") + '    """2000 too."""\n', "(2000, 490)"),
        (LEAP, "assert leap(2000)\n", "assert not leap(1900); assert leap(4) is True"),
        (ADD, "for a, b, total in [(1, 2, 3)]:\n    assert add(a, b) == total\n", "assert add(2, 1) == 3"),
    ],
)
def test_the_lines_of_lost_cases_are_found(old: str, new: str, lost: str) -> None:
    assert NewTests([old], new, new).lost(old, by_names=True) == lost


def test_a_text_in_three_quotes_is_a_value_and_hides_no_line_after_it() -> None:
    old = 'def test_a():\n    text = """\n    tea 3\n"""\n    assert total(text) == 27\n    """Why."""\n'
    new = old.replace("test_a", "test_b").replace("27", "28")
    assert NewTests([old], new, new).lost(old, by_names=True) == "assert total(text) == 27"
    assert NewTests([old], old, old).lost(old, by_names=True) == ""


def test_a_value_of_an_unchanged_test_keeps_no_case_unless_the_whole_case_is_there() -> None:
    other = "def test_refund():\n    assert refund(2001) == 5\n    assert fee(0) == 990\n"
    heavy = "def test_heavy():\n    assert fee(2001) == 990\n"
    assert NewTests([other + heavy], "", other).lost(heavy, by_names=True) == "assert fee(2001) == 990"
    same = other + "def test_fee():\n    assert fee(2001) == 990\n"
    assert NewTests([same + heavy], "", same).lost(heavy, by_names=True) == ""
