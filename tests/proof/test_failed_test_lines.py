"""What failed is shown by the lines about a failed test, where a runner ends with something else."""

from __future__ import annotations

import pytest

from asbuilt.proof.evidence import LINES, Evidence
from asbuilt.proof.failed_test_lines import failure_lines
from asbuilt.proof.failure import failure_of

TAP = """\
TAP version 13
# Subtest: empty
ok 1 - empty
# Subtest: total of 2 items
not ok 2 - total of 2 items
  ---
  duration_ms: 12.1
  error: '4 == 3'
  stack: |-
    Test.run (node:internal/test_runner/test:796:25)
    Test.postRun (node:internal/test_runner/test:889:19)
    TestContext.<anonymous> (test/cart.test.js:3:28)
    Test.start (node:internal/test_runner/test:700:17)
  ...
# Subtest: last
ok 3 - last
  ---
  duration_ms: 5.8
  ...
1..3
# tests 3
# suites 0
# pass 2
# fail 1
# cancelled 0
# skipped 0
# todo 0
# duration_ms 442.4
"""
GO = "=== RUN   TestTotal\n    cart_test.go:7: 4, not 3\n--- FAIL: TestTotal (0.00s)\n" + "ok  a/b\n" * LINES
PYTEST = "E   assert 4 == 3\n" + "FAILED tests/test_cart.py::test_total - assert 4 == 3\n1 failed in 0.1s\n"
UNITTEST = "FAIL: test_total (test_cart.Cart.test_total)\n" + "  line\n" * LINES + "FAILED (failures=1)\n"


@pytest.mark.parametrize(
    ("output", "name", "first", "has"),
    [
        (TAP, "total of 2 items", "# Subtest: total of 2 items", "  error: '4 == 3'"),
        (GO, "TestTotal", "=== RUN   TestTotal", "    cart_test.go:7: 4, not 3"),
        (UNITTEST, "test_cart.Cart.test_total", "FAIL: test_total (test_cart.Cart.test_total)", "  line"),
        # The last lines name it, or no line says that it failed.
        (PYTEST, "tests/test_cart.py::test_total", "E   assert 4 == 3", "1 failed in 0.1s"),
        ("ok 1 - total\nall fine\n", "total", "ok 1 - total", "all fine"),
    ],
)
def test_the_lines_begin_with_the_test_that_failed(output: str, name: str, first: str, has: str) -> None:
    lines = failure_lines(output.encode(), [name])
    assert (lines[0], has in lines, len(lines) <= LINES) == (first, True, True)


def test_a_failed_suite_shows_them() -> None:
    shown = Evidence("tests", ("npm", "test"), 1, "FAIL", "1 test fails", 3, 0, 1, "sha256:0", 1.0, "7" * 40)
    named = shown._replace(new_failures=("total of 2 items",))
    assert "  error: '4 == 3'" in failure_of(named, TAP.encode()).lines
    assert failure_of(shown, TAP.encode()).lines[-1] == "# duration_ms 442.4"


def test_a_failure_is_the_same_if_only_numbers_differ() -> None:
    shown = Evidence("tests", ("npm", "test"), 1, "FAIL", "1 test fails", 3, 0, 1, "sha256:0", 1.0, "7" * 40)
    first, again = (failure_of(shown, text.encode()) for text in (TAP, TAP.replace("442.4", "97.1")))
    assert first != again
    assert first.same == again.same
    assert first.same != failure_of(shown, TAP.replace("# fail 1", "").encode()).same
