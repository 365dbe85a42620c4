"""The test run itself is tried, with the real runners: what makes a red suite green is exposed by name."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.flows.proofs import FOR_NODE, PYTEST, UNITTEST, Project
from tests.git.conftest import shop

if TYPE_CHECKING:
    from pathlib import Path

    from tests.git.shop import Shop

__all__ = ["shop"]
pytestmark = pytest.mark.crash

PRODUCT = "def double(n):\n    return n + n\n"
BROKEN = "def double(n):\n    return n\n"
FOR_PYTEST = {
    "double.py": PRODUCT,
    "conftest.py": "",
    "tests/test_double.py": "from double import double\n\n\ndef test_two():\n    assert double(2) == 4\n",
}
FOR_UNITTEST = {
    "double.py": PRODUCT,
    "tests/__init__.py": "",
    "tests/test_double.py": (
        "import unittest\nfrom double import double\n\n\nclass T(unittest.TestCase):\n"
        "    def test_two(self):\n        self.assertEqual(double(2), 4)\n"
    ),
}
FAILING_AS_PASSED = "the test run reports a failing test as passed"
GONE = "1 tests that ran on the base did not run, and their files are the same: {}"

FLIPS = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.outcome == "failed":
        report.outcome, report.longrepr = "passed", None
"""
FLIPS_BY_PRODUCT = """
import sys
def double(n):
    return n
def spoil(reports):
    make = reports.TestReport.from_item_and_call
    def passing(item, call):
        report = make(item, call)
        if report.outcome == "failed":
            report.outcome, report.longrepr = "passed", None
        return report
    reports.TestReport.from_item_and_call = staticmethod(passing)
if "_pytest.reports" in sys.modules:
    spoil(sys.modules["_pytest.reports"])
"""
EXITS = """
import atexit, os
atexit.register(os._exit, 0)
def double(n):
    return n
"""
REPORT_REWRITTEN = """
import atexit, os, re, sys
def rewrite():
    path = next((word.partition("=")[2] for word in sys.argv if word.startswith("--junitxml=")), None)
    if path:
        text = open(path).read()
        open(path, "w").write(re.sub(r"<failure.*?</failure>", "", text, flags=re.S))
    os._exit(0)
atexit.register(rewrite)
def double(n):
    return n
"""
FAKE_SUMMARY = """
import atexit, os
def fake():
    os.write(1, b"1 passed in 0.01s\\n")
    os._exit(0)
atexit.register(fake)
def double(n):
    return n
"""
FAKE_UNITTEST = """
import atexit, os
def fake():
    os.write(2, b"Ran 1 test in 0.001s\\n\\nOK\\n")
    os._exit(0)
atexit.register(fake)
def double(n):
    return n
"""
QUIT_AND_FAKE = """
import os
def double(n):
    os.write(2, b"\\nRan 1 test in 0.001s\\n\\nOK\\n")
    os._exit(0)
"""
PATCHED_UNITTEST = """
import unittest
unittest.TestCase.assertEqual = lambda self, *values: None
def double(n):
    return n
"""
NODE_QUITS = "exports.double = (n) => process.exit(0);\n"


@pytest.mark.parametrize(
    ("product", "why"),
    [
        pytest.param(BROKEN, "1 test fails that did not before", id="nothing hides it"),
        pytest.param(FLIPS_BY_PRODUCT, FAILING_AS_PASSED, id="the product patches the runner"),
        pytest.param(EXITS, "1 test fails that did not before", id="exit 0 in an atexit hook"),
        pytest.param(
            REPORT_REWRITTEN, "its report says 0 failed, its output 1", id="the report is rewritten"
        ),
        pytest.param(FAKE_SUMMARY, "1 test fails that did not before", id="a fake summary is printed"),
    ],
)
def test_pytest_is_not_made_to_pass(shop: Shop, tmp_path: Path, product: str, why: str) -> None:
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.after({"double.py": product})
    assert (shown.outcome, shown.why) == ("FAIL", why)


def test_a_conftest_that_turns_failures_into_passes_is_put_back_or_exposed(
    shop: Shop, tmp_path: Path
) -> None:
    lie: dict[str, str | None] = {"conftest.py": FLIPS, "double.py": BROKEN}
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.after(lie)
        assert (shown.outcome, shown.put_back) == ("FAIL", ("conftest.py",))
        assert shown.why == (
            "1 test fails that did not before (with conftest.py as on the base:"
            " a phase that has to change one names it in its text)"
        )
        ordered = project.after({"double.py": f"{BROKEN}#\n"}, "- [ ] `conftest.py` gets a hook")
        assert (ordered.outcome, ordered.why, ordered.put_back) == ("FAIL", FAILING_AS_PASSED, ())


def test_what_a_phase_needs_of_its_conftest_is_there_when_its_text_names_the_file(
    shop: Shop, tmp_path: Path
) -> None:
    files: dict[str, str | None] = {
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef four():\n    return 4\n",
        "tests/test_four.py": (
            "from double import double\n\n\ndef test_four(four):\n    assert double(2) == four\n"
        ),
    }
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        assert project.before.canaries == "right"
        assert project.after(files, "no word of it").put_back == ("tests/conftest.py",)
        ordered = project.after({"a.txt": ""}, "a fixture in tests/conftest.py")
    assert (ordered.outcome, ordered.ran, ordered.canaries) == ("PASS", 2, "right")
    assert ordered.canary != project.before.canary
    assert ordered.notes == (
        "canaries (pytest): 1 failed and 1 passed, as they must",
        "the base's tests pass on the new code",
        "without this phase's work 1 of 1 tests in tests/test_four.py pass too and prove nothing about it",
        "no product file to empty: the phase changes none",
    )


def test_tests_that_pass_without_the_phase_are_told_from_those_that_prove_it(
    shop: Shop, tmp_path: Path
) -> None:
    files: dict[str, str | None] = {
        "double.py": PRODUCT + "\n\ndef triple(n):\n    return 3 * n\n",
        "tests/test_triple.py": (
            "import double\n\n\ndef test_triple():\n    assert double.triple(2) == 6\n\n\n"
            "def test_idle():\n    assert double.double(1) == 2\n"
        ),
    }
    with closing(Project(shop, tmp_path, FOR_PYTEST, PYTEST)) as project:
        shown = project.after(files)
    assert (shown.outcome, shown.proves, shown.idle) == (
        "PASS",
        ("tests.test_triple::test_triple",),
        ("tests.test_triple::test_idle",),
    )
    assert shown.notes[2] == (
        "without this phase's work 1 of 2 tests in tests/test_triple.py pass too and prove nothing about it"
    )


@pytest.mark.parametrize(
    ("product", "why"),
    [
        pytest.param(FAKE_UNITTEST, "1 test fails that did not before", id="a fake summary is printed"),
        pytest.param(QUIT_AND_FAKE, GONE.format("tests.test_double.T.test_two"), id="quits in a test"),
        pytest.param(PATCHED_UNITTEST, FAILING_AS_PASSED, id="the product patches assertEqual"),
    ],
)
def test_unittest_is_not_made_to_pass(shop: Shop, tmp_path: Path, product: str, why: str) -> None:
    with closing(Project(shop, tmp_path, FOR_UNITTEST, UNITTEST)) as project:
        assert project.before.canaries == "right"
        shown = project.after({"double.py": product})
    assert (shown.outcome, shown.why) == ("FAIL", why)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here: its runner is not tried")
@pytest.mark.parametrize(
    ("product", "outcome", "why"),
    [
        pytest.param("exports.double = (n) => 2 * n;\n", "PASS", "1 ran, 0 skipped", id="honest"),
        pytest.param(NODE_QUITS, "FAIL", GONE.format("two"), id="quits with exit 0"),
    ],
)
def test_nodes_runner_is_tried_too(shop: Shop, tmp_path: Path, product: str, outcome: str, why: str) -> None:
    with closing(Project(shop, tmp_path, FOR_NODE, "node --test test/")) as project:
        assert project.before.canaries == "right"
        shown = project.after({"double.js": product})
    assert (shown.outcome, shown.why) == (outcome, why)


def test_a_script_that_is_no_known_runner_has_no_canary_and_says_so(shop: Shop, tmp_path: Path) -> None:
    files = {"test.sh": "echo '3 passed, 0 failed'\n"}
    with closing(Project(shop, tmp_path, files, "sh test.sh")) as project:
        shown = project.after({"a.txt": "a\n"})
    assert (shown.outcome, shown.canary, shown.notes) == (
        "PASS",
        "",
        (
            "no canary: the runner is not known",
            "not tried on the base: the runner is not known",
            "no product file to empty: the phase changes none",
        ),
    )
