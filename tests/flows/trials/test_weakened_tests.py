"""The base's tests run on the new code, with the real runners."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from asbuilt.proof.evidence import IDLE
from asbuilt.proof.trials.weakened_tests import OldTest
from tests.flows.proofs import FOR_NODE, PYTEST, UNITTEST, Project
from tests.git.conftest import shop

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.proof.evidence import Evidence
    from tests.git.shop import Shop

__all__ = ["shop"]
pytestmark = pytest.mark.crash

BROKEN = "def double(n):\n    return n\n"
FOR_PYTEST = {
    "double.py": "def double(n):\n    return n + n\n",
    "tests/checking.py": "def check(got, wanted):\n    assert got == wanted\n",
    "tests/test_double.py": (
        "from checking import check\nfrom double import double\n\n\n"
        "def test_none():\n    check(double(0), 0)\n\n\ndef test_two():\n    check(double(2), 4)\n"
    ),
}
FOR_UNITTEST = {
    "double.py": "def double(n):\n    return n + n\n",
    "tests/__init__.py": "",
    "tests/test_double.py": (
        "import unittest\nfrom double import double\n\n\nclass T(unittest.TestCase):\n"
        "    def test_none(self):\n        self.assertEqual(double(0), 0)\n\n"
        "    def test_two(self):\n        self.assertEqual(double(2), 4)\n"
    ),
}
PRINTS = "def check(got, wanted):\n    print(got == wanted)\n"
LOOSENED = FOR_PYTEST["tests/test_double.py"].replace("check(double(2), 4)", "assert double(2) > 1")
TWO_FILES = {
    **FOR_NODE,
    "test/none.test.js": (
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { double } = require('../double.js');\n"
        "test('none', () => { assert.strictEqual(double(0), 0); });\n"
    ),
}


def _worst(shown: Evidence) -> list[tuple[str, str, str]]:
    olds = [OldTest(*one) for one in shown.olds]
    return [(one.name, one.now, one.then) for one in olds if (one.now, one.then) != ("passed", "passed")]


def test_an_assertion_that_a_helper_no_longer_makes_is_found(shop: Shop, tmp_path: Path) -> None:
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.after({"double.py": BROKEN, "tests/checking.py": PRINTS})
    assert (shown.outcome, shown.old) == ("PASS", "red")
    assert _worst(shown) == [("tests.test_double::test_two", "passed", "helper")]


RENAMED = LOOSENED.replace("test_two", "test_some").replace("> 1", "in (2, 4)")


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ({"tests/test_double.py": LOOSENED}, [("tests.test_double::test_two", "passed", "red")]),
        ({"tests/test_double.py": RENAMED}, [("tests.test_double::test_two", "absent", "red")]),
        ({"tests/checking.py": PRINTS}, [("tests.test_double::test_two", "passed", "helper")]),
        # The earlier phase broke it, and was judged for it.
        ({"tests/test_double.py": LOOSENED, "double.py": BROKEN}, []),
    ],
)
def test_a_test_that_an_earlier_phase_weakened_runs_as_it_was(
    shop: Shop, tmp_path: Path, first: dict[str, str | None], found: list[tuple[str, str, str]]
) -> None:
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.after_another(first, {"double.py": BROKEN + "\n# so\n"})
    assert (shown.outcome, shown.old, _worst(shown)) == ("PASS", "", found)
    assert all(OldTest(*one).earlier for one in shown.olds)


def test_an_added_file_that_mends_the_product_for_the_tests_is_left_out(shop: Shop, tmp_path: Path) -> None:
    mends = (
        "import double\ndouble.double = lambda n: n + n\n\n\n"
        "def test_mended():\n    assert double.double(3) == 6\n"
    )
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.after({"double.py": BROKEN, "tests/test_a.py": mends})
    assert (shown.old, _worst(shown)) == ("red", [("tests.test_double::test_two", "passed", "red")])


def test_a_test_that_is_gone_is_followed_by_name_in_unittest(shop: Shop, tmp_path: Path) -> None:
    kept, _, _ = FOR_UNITTEST["tests/test_double.py"].partition("\n    def test_two")
    renamed = FOR_UNITTEST["tests/test_double.py"].replace("class T(", "class Doubling(")
    with closing(Project(shop, tmp_path, FOR_UNITTEST, UNITTEST)) as project:
        lost = project.after({"double.py": BROKEN, "tests/test_double.py": kept})
        moved = project.after(
            {"double.py": FOR_UNITTEST["double.py"] + "#\n", "tests/test_double.py": renamed}
        )
    assert _worst(lost) == [("tests.test_double.T.test_two", "absent", "red")]
    assert (moved.outcome, moved.old) == ("PASS", "green")
    assert [(one.name, one.like) for one in (OldTest(*test) for test in moved.olds)] == [
        ("tests.test_double.T.test_none", "test_none"),
        ("tests.test_double.T.test_two", "test_two"),
    ]


def test_a_test_that_is_gone_is_named_also_where_the_old_tests_never_end(shop: Shop, tmp_path: Path) -> None:
    kept, _, _ = FOR_UNITTEST["tests/test_double.py"].partition("\n    def test_two")
    endless = "def double(n):\n    while n == 2:\n        pass\n    return n + n\n"
    with closing(Project(shop, tmp_path, FOR_UNITTEST, UNITTEST, limit_s=10)) as project:
        shown = project.after({"double.py": endless, "tests/test_double.py": kept})
    assert (shown.old, _worst(shown)) == (
        "not loaded",
        [("tests.test_double.T.test_two", "absent", "load")],
    )


def test_a_test_of_a_function_that_was_renamed_cannot_be_loaded(shop: Shop, tmp_path: Path) -> None:
    files = {
        path: text.replace("double(", "twice(").replace("import double", "import twice")
        for path, text in FOR_PYTEST.items()
    }
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.after({**files})
    assert (shown.outcome, shown.old) == ("PASS", "not loaded")
    assert {then for _, _, then in _worst(shown)} == {"load"}


def test_new_tests_that_do_not_run_the_product_are_named(shop: Shop, tmp_path: Path) -> None:
    product = "def double(n):\n    return n + n\n\n\ndef triple(n):\n    return n\n"
    fake = "def triple(n):\n    return 3 * n\n\n\ndef test_triple():\n    assert triple(2) == 6\n"
    check = "test $(python3 -c 'from double import triple; print(triple(0))') = 0"
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.after({"double.py": product, "tests/test_triple.py": fake}, checks=[check])
    assert (shown.outcome, shown.unnoticed) == ("PASS", ())
    assert shown.unnoticed_by_own == ("double.py: nothing left in it",)


def test_only_files_that_differ_run_where_each_is_a_process_and_none_where_no_test_differs(
    shop: Shop, tmp_path: Path
) -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no node on PATH")
    weaker = TWO_FILES["test/double.test.js"].replace(
        "assert.strictEqual(double(2), 4)", "assert.ok(double(2))"
    )
    with closing(Project(shop, tmp_path, TWO_FILES, "node --test")) as project:
        untouched = project.after({"double.js": TWO_FILES["double.js"] + "//\n"})
        shown = project.after({"double.js": "exports.double = (n) => n;\n", "test/double.test.js": weaker})
    assert (untouched.old, untouched.olds) == ("", ())
    assert (shown.outcome, shown.old) == ("PASS", "red")
    assert [(one[0], one[2]) for one in shown.olds] == [("two", "red")]


def test_a_check_of_the_phase_that_passes_on_its_base_is_said_to_prove_nothing(
    shop: Shop, tmp_path: Path
) -> None:
    checks = ("test -f double.py", "grep -q thrice double.py")
    more = FOR_PYTEST["double.py"] + "\n\ndef thrice(n):\n    return n * 3\n"
    proves = "from double import thrice\n\n\ndef test_three():\n    assert thrice(1) == 3\n"
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.every({"double.py": more, "tests/test_thrice.py": proves}, checks=checks)
    assert [(one.name, one.outcome, one.before, one.notes) for one in shown[1:]] == [
        ("test -f double.py", "PASS", "passes", (IDLE,)),
        ("grep -q thrice double.py", "PASS", "fails", ()),
    ]
    assert shown[0].unnoticed == ()


def test_new_lines_of_which_no_check_notices_a_change_are_shown(shop: Shop, tmp_path: Path) -> None:
    more = FOR_PYTEST["double.py"] + "\n\ndef thrice(n):\n    return n * 3 if n > 1 else 3\n"
    loads = "from double import thrice\n\n\ndef test_three():\n    assert thrice\n"
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.after({"double.py": more, "tests/test_thrice.py": loads})
    assert (shown.outcome, len(shown.unnoticed) >= 2) == ("PASS", True)
    assert {one.partition(": ")[0] for one in shown.unnoticed} == {"double.py:5", "double.py:6"}


@pytest.mark.parametrize(("product", "old"), [("return n + n;", "green"), ("return 4;", "not loaded")])
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_suite_that_shows_only_its_exit_code_runs_its_old_tests_too(
    shop: Shop, tmp_path: Path, product: str, old: str
) -> None:
    test = '#include "../twice.c"\nint main(void) { return twice(2) != 4 || twice(3) != 6; }\n'
    base = {"twice.c": "int twice(int n) { return n + n; }\n", "test/twice.c": test}
    command = f"cc -o {tmp_path}/twice test/twice.c && {tmp_path}/twice"
    with closing(Project(shop, tmp_path, base, command, by_exit=True)) as project:
        changed = test.replace(" || twice(3) != 6", "")
        shown = project.after({"twice.c": f"int twice(int n) {{ {product} }}\n", "test/twice.c": changed})
    assert (project.before.outcome, shown.outcome, shown.old) == ("PASS", "PASS", old)
