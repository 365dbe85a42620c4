"""What real runners printed and wrote, counted: every output was made by running the tool of its name.

The projects behind them have the same few tests: one that passes, one that fails, one that is left out.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.proof.counts import Counts, from_output, from_report, joined
from asbuilt.proof.judgement import disagreement

OUTPUTS = Path(__file__).parent / "runner_outputs"
LINES = [
    line for path in sorted(OUTPUTS.glob("*.txt")) for line in path.read_text().splitlines(keepends=True)
]
REPORTS = [path.read_bytes() for path in sorted(OUTPUTS.glob("*.xml"))]
COUNTED = {
    "ava.txt": Counts(
        3, 1, 2, failures=("a › breaks",), passed=("b › adds", "a › adds"), others=("a › off", "a › later")
    ),
    "ava_tap.txt": Counts(
        3, 1, 2, failures=("a › breaks",), passed=("b › adds", "a › adds"), others=("a › off", "a › later")
    ),
    "bats.txt": Counts(2, 1, 1, failures=("breaks",), passed=("adds",), others=("off",)),
    "cargo.txt": Counts(
        5,
        1,
        1,
        failures=("tests/api.rs::adds",),
        passed=("src::tests::adds", "src::tests::panics", "tests/api.rs::prints", "src/lib.rs - add"),
        others=("src::tests::slow",),
    ),
    "catch2.txt": Counts(2, 1, 0),
    "ctest.txt": Counts(
        5,
        4,
        2,
        failures=("parse_bad", "missing", "crash", "slow"),
        passed=("good",),
        others=("skipped", "off"),
    ),
    "ctest.xml": Counts(
        5,
        4,
        2,
        failures=("parse_bad", "missing", "crash", "slow"),
        passed=("good",),
        others=("skipped", "off"),
    ),
    "go.txt": Counts(4, 2, 1, failures=("TestA", "x/d"), passed=("TestC",), others=("TestB",)),
    "go_json.txt": Counts(4, 2, 1, failures=("TestA", "x/d"), passed=("TestC",), others=("TestB",)),
    "gradle.txt": Counts(4, 2, 1),
    "gradle_a.xml": Counts(
        3,
        2,
        1,
        failures=("x.ATest::breaks", "x.ATest::raises"),
        passed=("x.ATest::adds",),
        others=("x.ATest::off",),
    ),
    "gtest.txt": Counts(2, 1, 1, failures=("Math.Breaks",), passed=("Math.Adds",), others=("Io.Off",)),
    "jest.json": Counts(
        4,
        2,
        2,
        failures=("j/a.test.js::math > breaks", "j/c.test.js"),
        passed=("j/a.test.js::math > adds", "j/b.test.js::adds"),
        others=("j/a.test.js::math > off", "j/a.test.js::math > later"),
    ),
    "jest.txt": Counts(
        3,
        1,
        2,
        failures=("j/a.test.js > math > breaks",),
        passed=("j/a.test.js > math > adds", "j/b.test.js > adds"),
        others=("j/a.test.js > math > off", "j/a.test.js > math > later"),
    ),
    "maven.txt": Counts(4, 2, 1),
    "meson.txt": Counts(
        6,
        3,
        1,
        failures=("a / parse bad", "a:core / crash", "a / slow"),
        passed=("a / good", "a / wrong", "a / tapped"),
        others=("a / skipped",),
    ),
    "mocha.txt": Counts(
        5,
        2,
        1,
        failures=("app.router > breaks (sometimes)", 'hooked > "before all" hook for "never"'),
        passed=("top", "app.router > works", "app.router > inner > works"),
        others=("app.router > later",),
    ),
    "node.txt": Counts(5, 1, 2, failures=("breaks",), passed=("adds", "sub", "top"), others=("off", "later")),
    "node.xml": Counts(
        4,
        1,
        2,
        failures=("test::breaks",),
        passed=("test::adds", "test::sub", "test::top"),
        others=("test::off", "test::later"),
    ),
    "node_spec.txt": Counts(5, 1, 2, failures=("breaks",), passed=("adds", "sub"), others=("off", "later")),
    "perl.txt": Counts(3, 1, 0, failures=("breaks",), passed=("fine", "adds")),
    "prove.txt": Counts(3, 1, 0),
    "surefire_a.xml": Counts(
        3,
        2,
        1,
        failures=("x.ATest::breaks", "x.ATest::raises"),
        passed=("x.ATest::adds",),
        others=("x.ATest::off",),
    ),
    "surefire_b.xml": Counts(1, 0, 0, passed=("x.BTest::fine",)),
    "tap.txt": Counts(
        4,
        1,
        1,
        failures=("t/a.js > math > deep > breaks",),
        passed=("t/a.js > math > adds", "t/a.js > top", "t/b.js > fine"),
        others=("t/a.js > off",),
    ),
    "tape.txt": Counts(2, 1, 0, failures=("should be strictly equal",)),
    "uvu.txt": Counts(
        8,
        4,
        2,
        failures=(
            "a.js > adds things",
            "a.js > named > boom thing",
            "b.js > adds things",
            "b.js > named > boom thing",
        ),
    ),
    "vitest.txt": Counts(3, 1, 2),
    "vitest.xml": Counts(
        4,
        2,
        2,
        failures=("v/a.test.mjs::math > breaks", "v/c.test.mjs"),
        passed=("v/a.test.mjs::math > adds", "v/b.test.mjs::adds"),
        others=("v/a.test.mjs::math > off", "v/a.test.mjs::math > later"),
    ),
}


def read(name: str) -> Counts | None:
    data = (OUTPUTS / name).read_bytes()
    return from_output(data.decode()) if name.endswith(".txt") else from_report(data)


def _workspace(package: str, *tests: str) -> str:
    """What npm and `node --test` print for a package whose tests pass."""
    points = "".join(f"# Subtest: {name}\nok {at} - {name}\n" for at, name in enumerate(tests, 1))
    rest = "".join(f"# {word} 0\n" for word in ("fail", "cancelled", "skipped", "todo"))
    numbers = (
        f"1..{len(tests)}\n# tests {len(tests)}\n# suites 0\n# pass {len(tests)}\n{rest}# duration_ms 9.1\n"
    )
    return f"\n> {package}@1.0.0 test\n> node --test\n\nTAP version 13\n{points}{numbers}"


def test_the_tests_of_all_npm_workspaces_count_and_keep_their_package() -> None:
    root = "\n> test\n> npm test --workspaces\n\n"
    app, lib = _workspace("@acme/app", "totals"), _workspace("@acme/lib", "adds", "totals")
    assert from_output(root + app + lib) == Counts(
        3, 0, 0, passed=("@acme/app > totals", "@acme/lib > adds", "@acme/lib > totals")
    )
    assert from_output(root + lib) == Counts(2, 0, 0, passed=("adds", "totals"))
    assert from_output(lib + lib) == Counts(2, 0, 0, passed=("adds", "totals"))


@pytest.mark.parametrize("name", sorted(COUNTED))
def test_what_a_real_runner_left_is_counted(name: str) -> None:
    assert read(name) == COUNTED[name]


@pytest.mark.parametrize(
    ("printed", "written"),
    [
        ("ctest.txt", ["ctest.xml"]),
        ("maven.txt", ["surefire_a.xml", "surefire_b.xml"]),
        ("jest.txt", ["jest.json"]),
    ],
)
def test_a_runners_output_and_its_report_agree(printed: str, written: list[str]) -> None:
    files = [(OUTPUTS / name).read_bytes() for name in written]
    report = from_report(files[0] if len(files) == 1 else joined(files) or b"")
    assert disagreement(1, read(printed), report, wants_report=True) is None


TEXTS = [
    ("[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1\n" * 2, Counts(4, 0, 2)),
    ("[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in x.A\n", None),
    ("     Summary [   0.011s] 3 tests run: 2 passed, 1 failed, 1 skipped\n", Counts(3, 1, 1)),
    ("# TOTAL: 4\n# PASS:  1\n# SKIP:  1\n# XFAIL: 0\n# FAIL:  2\n# XPASS: 0\n# ERROR: 0\n", Counts(3, 2, 1)),
    ("# TOTAL: 4\n# PASS:  1\n", None),
    ("OK (5 tests, 9 assertions)\n", Counts(5, 0, 0)),
    ("FAILURES!\nTests: 5, Assertions: 9, Failures: 1, Skipped: 2.\n", Counts(3, 1, 2)),
    (
        "Failed!  - Failed:     1, Passed:     2, Skipped:     1, Total:     4, Duration: 9 ms\n",
        Counts(3, 1, 1),
    ),
    ("All tests passed (40 assertions in 12 test cases)\n", Counts(12, 0, 0)),
    ("-----------------------\n3 Tests 1 Failures 1 Ignored \nFAIL\n", Counts(2, 1, 1)),
    ("No tests were found!!!\n", None),
    ("Test Suites: 1 failed, 1 passed, 2 total\nTests:       3 passed, 3 total\n", Counts(4, 1, 0)),
    ("1..0 # SKIP no network\n", Counts(0, 0, 1, others=("",))),
    ("1..2\nok 1 - a\nok 2 - b\nok 1 - c\n1..1\n", Counts(3, 0, 0, passed=("a", "b", "c"))),
    (
        "TAP version 14\n1..1\n# Subtest: a\n    ok 1 - b\n    1..1\nnot ok 1 - a\n",
        Counts(2, 1, 0, ("a",), ("a > b",)),
    ),
    ("1..1\nok 1 - a # TODO\n  ---\n  ok 7 - x\n  ...\n", Counts(0, 0, 1, others=("a",))),
    ("1..3\nok 1 - a\nok 2 - b\n", None),
    ("ok 1 - a\nok 2 - b\n", None),
    ("1..2\nok 1 - a\nBail out! no database\n", None),
    ('{"Action":"pass","Package":"x","Test":"TestA"}\n', None),
]


@pytest.mark.parametrize(("text", "counts"), TEXTS)
def test_a_summary_is_counted_only_as_a_whole(text: str, counts: Counts | None) -> None:
    assert from_output(text) == counts


@pytest.mark.parametrize(
    "name", ["cargo", "go", "go_json", "maven", "gradle", "gtest", "catch2", "tap", "bats"]
)
def test_a_runner_that_sums_up_in_parts_is_not_counted_where_its_output_was_cut(name: str) -> None:
    assert from_output((OUTPUTS / f"{name}.txt").read_text(), cut=True) is None


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=20), max_size=60))
def test_no_output_has_more_failures_than_tests(lines: list[str]) -> None:
    counts = from_output("".join(lines))
    assert counts is None or (0 <= counts.failed <= counts.ran and counts.skipped >= 0)


@given(st.lists(st.sampled_from(REPORTS), min_size=1, max_size=5), st.randoms())
def test_the_order_of_reports_does_not_matter(reports: list[bytes], order: object) -> None:
    one = from_report(joined(reports) or b"")
    order.shuffle(reports)  # type: ignore[attr-defined]
    other = from_report(joined(reports) or b"")
    assert one is not None
    assert other is not None
    assert (one[:3], one.names) == (other[:3], other.names)


def test_a_report_that_is_cut_makes_all_of_them_none() -> None:
    assert from_report(joined([REPORTS[0], REPORTS[1][:-20]]) or b"") is None
    assert joined([]) is None
    assert from_report(b'{"testResults": [') is None
    assert from_report(b'{"testResults": [{"name": 3}]}') is None
