"""Lines by which a failure counts no more, or by which the product knows that it is tested."""

from __future__ import annotations

import pytest

from asbuilt.proof.suites.ignored_failures import traces
from asbuilt.proof.suites.model import Change


def found(path: str, after: str, before: str = "") -> list[tuple[str, str, int | None]]:
    """Give what is found of one change: kind, severity, line."""
    told = traces([Change(path, before.encode() or None, after.encode())])
    return [(one.kind.value, one.severity.value, one.line) for one in told]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("shop.py", 'if "PYTEST_CURRENT_TEST" in os.environ:'),
        ("shop.py", "from unittest.mock import ANY"),
        ("shop.py", 'if "pytest" in sys.modules:'),
        ("shop.py", "caller = inspect.stack()[1]"),
        ("shop.js", "if (process.env.NODE_TEST_CONTEXT) return 0;"),
        ("shop.ts", 'const quick = process.env.NODE_ENV === "test";'),
        ("shop.go", 'if flag.Lookup("test.v") != nil {'),
        ("shop.go", "if testing.Testing() {"),
        ("shop.go", 'if strings.HasSuffix(os.Args[0], ".test") {'),
        ("src/lib.rs", "if cfg!(test) { return 0; }"),
    ],
)
def test_a_product_that_looks_whether_it_is_tested_is_for_a_person(path: str, line: str) -> None:
    assert found(path, f"{line}\n") == [("knows-the-tests", "sign_off", 1)]


@pytest.mark.parametrize(
    ("path", "line", "kind", "severity"),
    [
        ("shop.js", "assert.strictEqual = () => {};", "runner-replaced", "fails"),
        ("shop.py", "unittest.TestCase.assertEqual = _yes", "runner-replaced", "fails"),
        ("src/lib.rs", "macro_rules! assert_eq {", "runner-replaced", "fails"),
        ("shop.h", "#define assert(condition)", "runner-replaced", "fails"),
        ("tests/common.rs", "macro_rules! assert {", "runner-replaced", "sign_off"),
        ("test/a.test.js", "assert.deepStrictEqual = () => {};", "runner-replaced", "sign_off"),
        ("test/a.test.js", "function expect(value) { return anything; }", "runner-replaced", "sign_off"),
        ("tests/test_a.py", "os._exit(0)", "exit-forced", "sign_off"),
        ("shop.py", "os._exit(0)", "exit-forced", "sign_off"),
        ("test/a.test.js", "process.exit(0);", "exit-forced", "sign_off"),
        ("shop_test.go", "os.Exit(0)", "exit-forced", "sign_off"),
        ("conftest.py", "def pytest_runtest_makereport(item, call):", "outcome-rewritten", "sign_off"),
        ("main_test.go", "func TestMain(m *testing.M) {", "outcome-rewritten", "sign_off"),
        ("test/a.test.js", "jest.retryTimes(3);", "failure-swallowed", "sign_off"),
        ("test/a.test.js", 'jest.mock("../shop.js");', "product-replaced", "sign_off"),
    ],
)
def test_what_reaches_for_the_runner_is_told(path: str, line: str, kind: str, severity: str) -> None:
    assert found(path, f"{line}\n") == [(kind, severity, 1)]


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("shop.py", "class Price:\n    def __eq__(self, other):\n        return True\n", True),
        (
            "shop.py",
            "class C(int):\n    def __eq__(self, other):\n        return abs(self - other) < 9\n",
            True,
        ),
        ("Shop.java", "public boolean equals(Object other) { return true; }\n", True),
        (
            "shop.py",
            "class P:\n    def __eq__(self, other):\n        return self.cents == other.cents\n",
            False,
        ),
    ],
)
def test_what_is_equal_to_too_much_is_told(path: str, text: str, *, told: bool) -> None:
    assert found(path, text) == ([("equals-anything", "sign_off", None)] if told else [])


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("shop.js", "process.exit(0);"),
        ("shop.py", "# PYTEST_CURRENT_TEST is not looked at"),
        ("shop.js", "// process.env.NODE_TEST_CONTEXT"),
        ("tests/test_a.py", "import pytest"),
        ("test/a.test.js", 'const assert = require("node:assert");'),
        ("test/a.test.js", "t.mock.method(fs, 'readFile', () => '');"),
        ("test/a.test.js", "assert.strictEqual(total([1]), 1);"),
        ("shop.py", "testing = True"),
        ("README.md", "PYTEST_CURRENT_TEST"),
    ],
)
def test_what_people_write_every_day_is_silent(path: str, line: str) -> None:
    assert found(path, f"{line}\n") == []


def test_a_line_that_was_moved_is_not_new() -> None:
    line = "os._exit(0)\n"
    changes = [Change("tests/a.py", line.encode(), b"x = 1\n"), Change("tests/b.py", None, line.encode())]
    assert [*traces(changes)] == []
