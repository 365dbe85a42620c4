"""Tests that a plan merges, moves or parametrises: each old case has to stay, with the real runners."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import pytest

from asbuilt.proof.suites.model import Order, Severity
from asbuilt.proof.trials.weakened_tests import OldTest, with_old_tests
from tests.flows.proofs import PYTEST, UNITTEST, Project
from tests.git.conftest import shop

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.proof.evidence import Evidence
    from asbuilt.proof.remarks import Remark
    from tests.git.shop import Shop

__all__ = ["shop"]
pytestmark = pytest.mark.crash

FEE = (
    "def fee(grams, gift=False):\n    if grams < 0:\n        raise ValueError(grams)\n"
    "    if gift:\n        return 0\n    return 490 if grams <= 2000 else 990\n"
)
NO_GIFT = FEE.replace("return 0", "return 5")
NO_ERROR = FEE.replace("raise ValueError(grams)", "return 0")
OFF_BY_ONE = FEE.replace("<= 2000", "< 2000")
DEARER = FEE.replace("990", "1290")

BY_PYTEST = {
    "fee.py": FEE,
    "tests/test_fee.py": (
        "import pytest\nfrom fee import fee\n\n\n"
        "def test_light():\n    assert fee(1) == 490\n    assert fee(2000) == 490\n\n\n"
        "def test_heavy():\n    assert fee(2001) == 990\n\n\n"
        "def test_gift():\n    assert fee(2001, gift=True) == 0\n\n\n"
        "def test_refused():\n    with pytest.raises(ValueError):\n        fee(-1)\n"
    ),
}
HEAD, GIFT, REFUSED = (
    "import pytest\nfrom fee import fee\n\n\n",
    "def test_gift():\n    assert fee(2001, gift=True) == 0\n\n\n",
    "def test_refused():\n    with pytest.raises(ValueError):\n        fee(-1)\n",
)
TABLE = (
    '@pytest.mark.parametrize(\n    ("grams", "gift", "cents"),\n    [\n{rows}    ],\n)\n'
    "def test_fee(grams, gift, cents):\n    assert fee(grams, gift) == cents\n\n\n"
)
ROWS = {
    1: "        (1, False, 490),\n",
    2: "        (2000, False, 490),\n",
    3: "        (2001, False, 990),\n",
    4: "        (2001, True, 0),\n",
}
BY_UNITTEST = {
    "fee.py": FEE,
    "tests/__init__.py": "",
    "tests/test_fee.py": (
        "import unittest\nfrom fee import fee\n\n\nclass Fees(unittest.TestCase):\n"
        "    def test_light(self):\n        self.assertEqual(fee(1), 490)\n\n"
        "    def test_heavy(self):\n        self.assertEqual(fee(2001), 990)\n\n"
        "    def test_refused(self):\n        with self.assertRaises(ValueError):\n            fee(-1)\n"
    ),
}
LOOP = (
    "import unittest\nfrom fee import fee\n\n\nclass Fees(unittest.TestCase):\n    def test_fees(self):\n"
    "        for grams, cents in [(1, 490), (2001, 990)]:\n            with self.subTest(grams):\n"
    "                self.assertEqual(fee(grams), cents)\n"
)
NODE_HEAD = (
    "const test = require('node:test');\nconst assert = require('node:assert');\n"
    "const { add } = require('../add.js');\n\n"
)
BY_NODE = {
    "add.js": "exports.add = (a, b) => a + b;\n",
    "test/add.test.js": NODE_HEAD
    + (
        "test('one and two', () => {\n  assert.strictEqual(add(1, 2), 3);\n});\n\n"
        "test('two and one', () => {\n  assert.strictEqual(add(2, 1), 3);\n});\n\n"
        "test('below zero', () => {\n  assert.strictEqual(add(-3, 1), -2);\n});\n"
    ),
}
NODE_LOOP = NODE_HEAD + (
    "for (const [a, b, sum] of [ROWS]) {\n  test(`${a} and ${b}`, () => {\n"
    "    assert.strictEqual(add(a, b), sum);\n  });\n}\n"
)


class Case(NamedTuple):
    """What a phase has made of a project, and the lines that show what it lost; none if it is honest."""

    text: str
    files: dict[str, str | None]
    asked: tuple[str, ...] = ()
    base: dict[str, str] = BY_PYTEST
    then: dict[str, str | None] | None = None
    """What the next phase makes of it."""
    next_text: str = "- [ ] `fee` is faster"


def table(*rows: int, head: str = HEAD, rest: str = REFUSED) -> str:
    """Return the tests of fees as a table with some of its rows."""
    return head + TABLE.format(rows="".join(ROWS[row] for row in rows)) + rest


MERGE = "- [ ] Merge `test_light`, `test_heavy` and `test_gift` into one test, `test_fee`"
ONE_BODY = HEAD + (
    "def test_fee():\n    assert fee(1) == 490\n    assert fee(2000) == 490\n    assert fee(2001) == 990\n"
)

LOST = {
    "a case is gone and its code is wrong": Case(
        MERGE, {"fee.py": NO_GIFT, "tests/test_fee.py": table(1, 2, 3)}, ("test_gift",)
    ),
    "a case is gone and its code is right": Case(
        MERGE, {"fee.py": FEE + "\n\n", "tests/test_fee.py": table(1, 2, 3)}, ("test_gift",)
    ),
    "the edge is another": Case(
        "- [ ] The tests of `fee` become cases of one parametrised test",
        {
            "fee.py": OFF_BY_ONE,
            "tests/test_fee.py": table(1, 2, 3, 4).replace("2000", "1999"),
        },
        ("test_light",),
    ),
    "the test that takes in another loses its own case": Case(
        "- [ ] Fold `test_gift` into `test_light`, so that there is one test of it",
        {
            "fee.py": FEE + "\n\n",
            "tests/test_fee.py": BY_PYTEST["tests/test_fee.py"]
            .replace(GIFT, "")
            .replace("assert fee(2000) == 490", "assert fee(2001, gift=True) == 0"),
        },
        ("test_light",),
    ),
    "a refusal is gone": Case(
        "- [ ] Combine `test_light`, `test_heavy` and `test_refused` into one test with sub-tests",
        {"fee.py": NO_ERROR, "tests/test_fee.py": LOOP},
        ("test_refused",),
        BY_UNITTEST,
    ),
    "a case without a value of its own": Case(
        "- [ ] The tests 'one and two', 'two and one' and 'below zero' are merged into a table of tests",
        {
            "add.js": "exports.add = (a, b) => b + a;\n",
            "test/add.test.js": NODE_LOOP.replace("ROWS", "[1, 2, 3], [-3, 1, -2]"),
        },
        ("two and one",),
        BY_NODE,
    ),
    "the next phase breaks what was lost": Case(
        MERGE + " and delete the old ones",
        {"tests/test_fee.py": ONE_BODY + "\n\n" + REFUSED},
        ("test_gift",),
        then={"fee.py": NO_GIFT},
    ),
    "a case is only in a comment": Case(
        "- [ ] Rewrite `test_heavy` and `test_gift` as one test",
        {
            "fee.py": NO_GIFT,
            "tests/test_fee.py": BY_PYTEST["tests/test_fee.py"].replace(
                GIFT, "# fee(2001, gift=True) == 0\n\n\n"
            ),
        },
        ("test_gift",),
    ),
}
KEPT = {
    "all cases in a table": Case(MERGE, {"fee.py": FEE + "\n\n", "tests/test_fee.py": table(1, 2, 3, 4)}),
    "all cases in one body": Case(
        MERGE,
        {
            "fee.py": FEE + "\n\n",
            "tests/test_fee.py": f"{ONE_BODY}    assert fee(2001, gift=True) == 0\n\n\n{REFUSED}",
        },
    ),
    "moved to another file": Case(
        "- [ ] Move the test of gifts to `tests/test_gifts.py`",
        {
            "tests/test_fee.py": BY_PYTEST["tests/test_fee.py"].replace(GIFT, ""),
            "tests/test_gifts.py": "from fee import fee\n\n\n" + GIFT.rstrip() + "\n",
        },
    ),
    "renamed and in another order": Case(
        "- [ ] Rename `test_gift` to `test_a_gift_is_free` and put it first",
        {
            "tests/test_fee.py": HEAD
            + GIFT.replace("test_gift", "test_a_gift_is_free")
            + BY_PYTEST["tests/test_fee.py"].removeprefix(HEAD).replace(GIFT, ""),
        },
    ),
    "sub-tests with all cases": Case(
        "- [ ] Combine `test_light`, `test_heavy` and `test_refused` into one test with sub-tests",
        {
            "fee.py": FEE + "\n\n",
            "tests/test_fee.py": LOOP + "        self.assertRaises(ValueError, fee, -1)\n",
        },
        base=BY_UNITTEST,
    ),
    "a table in another order of columns": Case(
        "- [ ] The tests 'one and two', 'two and one' and 'below zero' are merged into a table of tests",
        {
            "add.js": "exports.add = (a, b) => b + a;\n",
            "test/add.test.js": NODE_LOOP.replace("[a, b, sum]", "[sum, a, b]").replace(
                "ROWS", "[3, 1, 2], [3, 2, 1], [-2, -3, 1]"
            ),
        },
        base=BY_NODE,
    ),
    "one is deleted by order, the others are merged": Case(
        "- [ ] Merge `test_light` and `test_heavy` into `test_fee`\n- [ ] Delete `test_gift`: gifts cost 5",
        {"fee.py": NO_GIFT, "tests/test_fee.py": table(1, 2, 3)},
    ),
    "the next phase changes a merged case by order": Case(
        MERGE,
        {"tests/test_fee.py": table(1, 2, 3, 4)},
        then={"fee.py": DEARER, "tests/test_fee.py": table(1, 2, 3, 4).replace("990", "1290")},
        next_text="- [ ] `fee` is 1290 for heavy parcels, no longer 990",
    ),
}


def _remarks(shop: Shop, folder: Path, case: Case) -> list[Remark]:
    """Return what fails or is asked about in a case's phases."""
    command = {"fee.py": PYTEST, "add.js": "node --test"}[next(iter(case.base))]
    command = UNITTEST if case.base is BY_UNITTEST else command
    orders = Order(case.text), Order(case.next_text)
    with closing(Project(shop, folder, case.base, command)) as project:
        shown = project.after(case.files, case.text)
        found = _told(shown, orders[0])
        if case.then is not None:
            project.goes_on([shown], depth="normal")
            shown = project.after_another(case.files, case.then)
            found = _told(shown, orders[1], orders[0])
    return found


def _told(shown: Evidence, order: Order, *before: Order) -> list[Remark]:
    assert shown.outcome == "PASS", shown.why
    olds = [OldTest(*one) for one in shown.olds]
    is_green = shown.old == "green"
    every = with_old_tests((), olds, order, is_green=is_green, is_compared=True, before=before)
    return [one for one in every if one.severity in (Severity.FAILS, Severity.SIGN_OFF)]


def _needs(case: Case) -> None:
    if case.base is BY_NODE and shutil.which("node") is None:
        pytest.skip("there is no node on PATH")


@pytest.mark.parametrize("name", LOST)
def test_a_case_that_is_lost_in_an_ordered_merge_of_tests_is_named(
    shop: Shop, tmp_path: Path, name: str
) -> None:
    _needs(LOST[name])
    found = _remarks(shop, tmp_path, LOST[name])
    assert {one.test for one in found} == {*LOST[name].asked}, [one.words for one in found]


@pytest.mark.parametrize("name", KEPT)
def test_tests_that_are_merged_moved_or_renamed_with_all_their_cases_need_no_answer(
    shop: Shop, tmp_path: Path, name: str
) -> None:
    _needs(KEPT[name])
    assert [one.words for one in _remarks(shop, tmp_path, KEPT[name])] == []
