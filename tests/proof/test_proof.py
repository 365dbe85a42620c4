from __future__ import annotations

import json
import shlex
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.events.event import Outcome
from asbuilt.proof.counts import Counts, from_junit, from_output
from asbuilt.proof.evidence import Evidence, evidence_from
from asbuilt.proof.judgement import (
    Judged,
    disagreement,
    judge_check,
    judge_tests,
    left_out,
    overall,
    without_filter,
)

SUMMARIES = [
    ("..\n3 passed, 1 skipped in 0.12s\n", Counts(3, 0, 1)),
    ("\x1b[31m=== \x1b[1m1 failed\x1b[0m, 2 passed in 1.20s ===\x1b[0m", Counts(3, 1, 0)),
    ("FAILED t.py::a - x\nFAILED t.py::b\n== 2 failed, 1 passed, 1 xfailed in 61.02s (0:01:01) ==", None),
    ("no tests ran in 0.01s\n", Counts(0, 0, 0)),
    ("5 deselected in 0.01s\n", Counts(0, 0, 0)),
    ("1 error in 0.10s\n", Counts(1, 1, 0)),
    ("Ran 3 tests in 0.001s\n\nOK (skipped=1)\n", Counts(2, 0, 1)),
    ("Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n", Counts(3, 2, 0)),
    ("test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured\n" * 2, Counts(10, 0, 2)),
    ("Tests:       1 failed, 2 passed, 3 total\n", Counts(3, 1, 0)),
    (" Tests  2 passed | 1 skipped (3)\n", Counts(2, 0, 1)),
    ("# tests 4\n# pass 2\n# fail 1\n# skipped 1\n", Counts(3, 1, 1)),
    (
        "=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- SKIP: TestB (0.00s)\nPASS\nok  \tx/a\t0.01s\n",
        Counts(1, 0, 1, (), ("TestA",), others=("TestB",)),
    ),
    (
        "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\nFAIL\nFAIL\tx/a\t0.01s\nFAIL\n",
        Counts(1, 1, 0, ("TestA",)),
    ),
    ("Finished in 0.1 seconds\n5 examples, 1 failure, 1 pending\n", Counts(4, 1, 1)),
    ("\n  4 passing (12ms)\n  1 pending\n  2 failing\n\n  1) a\n", Counts(6, 2, 1)),
    ("\n  4 passing (1s)\n", Counts(4, 0, 0)),
    ("unit: 7 passed, 0 failed, 2 skipped\n", Counts(7, 0, 2)),
]


@pytest.mark.parametrize(("text", "counts"), SUMMARIES)
def test_a_runners_summary_is_read(text: str, counts: Counts | None) -> None:
    read = from_output(text)
    assert read == (counts or Counts(4, 2, 0, ("t.py::a", "t.py::b")))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all good",
        "3 passed",
        "3 passed in",
        "OK",
        "Ran 3 tests in 0.1s\n",
        "--- PASS: TestA (0.00s)\n",
        "ok  \tx/a\t0.01s\n",
    ],
)
def test_a_summary_that_is_not_whole_is_none(text: str) -> None:
    assert from_output(text) is None


def test_a_runner_that_sums_up_in_parts_is_not_counted_where_the_output_was_cut() -> None:
    parts = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured\n"
    assert from_output(parts, cut=True) is None
    assert from_output("3 passed in 0.12s\n", cut=True) == Counts(3, 0, 0)


@given(st.text(max_size=300))
def test_any_output_is_read_without_a_crash(text: str) -> None:
    from_output(text)
    from_junit(text.encode("utf-8", "surrogatepass"))


def test_a_junit_report_tells_names_and_an_expected_failure_did_run() -> None:
    report = b"""<?xml version="1.0"?><testsuites><testsuite name="pytest">
        <testcase classname="t" name="a"/>
        <testcase classname="t" name="b"><failure message="x">y</failure></testcase>
        <testcase classname="t" name="c"><skipped type="pytest.skip"/></testcase>
        <testcase classname="t" name="d"><skipped type="pytest.xfail"/></testcase></testsuite></testsuites>"""
    assert from_junit(report) == Counts(3, 1, 1, ("t::b",), ("t::a", "t::d"), others=("t::c",))


@pytest.mark.parametrize(
    "report", [b"", b"<testsuites><testcase", b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>']
)
def test_a_junit_report_that_is_cut_or_expands_is_none(report: bytes) -> None:
    assert from_junit(report) is None


BASE = Counts(10, 1, 2, ("t::old",))


@pytest.mark.parametrize(
    ("exit_code", "counts", "judged"),
    [
        (0, Counts(12, 0, 2), Judged("PASS", "12 ran, 2 skipped")),
        (1, Counts(12, 1, 2, ("t::old",)), Judged("PASS", "12 ran, 2 skipped", (), ("t::old",))),
        (
            1,
            Counts(12, 2, 2, ("t::old", "t::new")),
            Judged("FAIL", "1 test fails that did not before", ("t::new",), ("t::old",)),
        ),
        (0, Counts(9, 0, 3), Judged("FAIL", "3 skipped, 2 before")),
        (0, Counts(8, 0, 2), Judged("FAIL", "2 tests are gone: 12 before, 10 now")),
        (0, Counts(9, 0, 2), Judged("FAIL", "1 test is gone: 12 before, 11 now")),
        (0, Counts(0, 0, 12), Judged("NOT_RUN", "0 tests ran")),
        (0, None, Judged("INDETERMINATE", "exit 0, but it printed no summary that could be read")),
        (2, None, Judged("FAIL", "exit 2, and no summary of the tests")),
        (None, Counts(12, 0, 2), Judged("INDETERMINATE", "the test run was ended by its time limit")),
        (3, Counts(12, 0, 2), Judged("FAIL", "exit 3, though no test failed")),
        (
            0,
            Counts(12, 0, 2, hidden=1),
            Judged("FAIL", "exit 0, and an earlier summary of its output has failures"),
        ),
    ],
)
def test_a_test_run_is_judged_against_its_baseline(
    exit_code: int | None, counts: Counts | None, judged: Judged
) -> None:
    assert judge_tests(exit_code, counts, truncated=False, baseline=BASE) == judged


def test_fewer_tests_and_more_skipped_ones_pass_where_they_were_compared_one_by_one() -> None:
    fewer = Counts(7, 0, 3)
    assert [
        judge_tests(0, fewer, truncated=False, baseline=BASE, may_shrink=may).outcome for may in (False, True)
    ] == ["FAIL", "PASS"]


def test_what_a_runner_hid_on_the_base_already_is_not_held_against_it() -> None:
    hiding = Counts(12, 0, 2, hidden=1)
    assert judge_tests(0, hiding, truncated=False, baseline=hiding).outcome == "PASS"


@pytest.mark.parametrize(
    ("exit_code", "printed", "reported", "words"),
    [
        (0, Counts(3, 0, 1), Counts(3, 0, 1), None),
        (
            0,
            Counts(3, 0, 1, hidden=1),
            Counts(3, 0, 1),
            "exit 0, and an earlier summary of its output has failures",
        ),
        (1, Counts(4, 1, 0), Counts(3, 1, 0), None),
        (0, None, Counts(3, 0, 0), None),
        (None, Counts(3, 0, 0), None, None),
        (1, Counts(3, 1, 0), Counts(3, 0, 0), "its report says 0 failed, its output 1"),
        (0, Counts(3, 0, 0), Counts(3, 1, 0), "its report says 1 failed, its output 0"),
        (0, Counts(9, 0, 0), Counts(3, 0, 1), "its report says 3 ran and 1 skipped, its output 9 and 0"),
        (0, Counts(3, 0, 0), None, "the runner wrote no report, as it did on the base"),
    ],
)
def test_output_report_and_exit_code_tell_of_one_run(
    exit_code: int | None, printed: Counts | None, reported: Counts | None, words: str | None
) -> None:
    assert disagreement(exit_code, printed, reported, wants_report=True) == words


def test_a_test_is_left_out_only_when_no_file_that_could_hold_it_changed() -> None:
    before = {"tests.test_a::one", "tests.test_b::two", "bare name"}
    assert left_out(before, {"tests.test_b::two"}, []) == ("bare name", "tests.test_a::one")
    assert left_out(before, set(), ["tests/test_b.py"]) == ("tests.test_a::one",)
    assert left_out(before, before, ["tests/test_b.py"]) == ()
    assert left_out(before, set(), ["tests/test_b.py"], "def two") == ("bare name", "tests.test_a::one")
    assert left_out(before, set(), ["tests/test_b.py"], 'it("bare name")') == ("tests.test_a::one",)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("tests.test_b::two", "api/tests/test_b.py"),
        ("test_b::two", "api/test_b.py"),
        ("x.ATest$Inner::two", "core/src/test/java/x/ATest.java"),
        ("web/b.test.js::math > two", "app/web/b.test.js"),
        ("src::net::dial::tests::two", "src/net/dial.rs"),
        ("src::net::tests::two", "src/net/mod.rs"),
        ("src/net/dial.rs - two", "src/net/dial.rs"),
        ("GET /users.json > two", "test/users.js"),
    ],
)
def test_a_test_whose_file_changed_is_not_left_out_however_its_runner_spells_the_file(
    name: str, path: str
) -> None:
    assert left_out({name}, set(), [path], 'it("two")') == ()
    assert left_out({name}, set(), ["other/c.x"], "") == (name,)


VERBOSE = """\
test_a (tests.t.T.test_a) ... ok
test_b (tests.t.T)
It has a docstring ... a line of the product
and moreok
test_c (tests.t.T.test_c) ... FAIL
test_d (tests.t.T.test_d) ... skipped 'no'
test_e (tests.t.T.test_e) ...\x20
======================================================================
FAIL: test_c (tests.t.T.test_c)
ok
----------------------------------------------------------------------
Ran 5 tests in 0.001s

FAILED (failures=1, skipped=1)
"""


def test_unittest_names_its_tests_whatever_they_print_and_one_without_an_end_did_not_end() -> None:
    assert from_output(VERBOSE) == Counts(
        4,
        1,
        1,
        ("tests.t.T.test_c",),
        ("tests.t.T.test_a", "tests.t.T.test_b"),
        others=("tests.t.T.test_d",),
    )


def test_a_later_summary_hides_no_earlier_one() -> None:
    failed = "Ran 2 tests in 0.001s\n\nFAILED (failures=1)\n"
    fake = "Ran 2 tests in 0.001s\n\nOK\n"
    assert from_output(failed + fake) == Counts(2, 0, 0, hidden=1)
    failed, fake = "1 failed, 2 passed in 0.01s\n", "3 passed in 0.01s\n"
    assert from_output(failed + fake) == Counts(3, 0, 0, hidden=1)


def test_node_names_its_tests_in_both_of_its_forms() -> None:
    sums = "# tests 3\n# pass 1\n# fail 1\n# skipped 1\n"
    tap = f"ok 1 - one\n    not ok 2 - two\nok 3 - three # SKIP\n{sums}"
    spec = f"✔ one (1.2ms)\n  ✖ two (0.3ms)\n﹣ three (0.1ms) # SKIP\n{sums.replace('#', 'ℹ')}"
    wanted = Counts(2, 1, 1, ("two",), ("one",), others=("three",))
    assert (from_output(tap), from_output(spec)) == (wanted, wanted)


def test_without_a_baseline_every_failure_is_new() -> None:
    judged = judge_tests(1, Counts(3, 1, 0, ("t::a",)), truncated=False, baseline=None)
    assert judged == Judged("FAIL", "1 test fails that did not before", ("t::a",))


def test_a_failure_without_a_name_is_new_unless_the_base_had_as_many() -> None:
    assert judge_tests(1, Counts(3, 1, 0), truncated=False, baseline=Counts(3, 1, 0)).outcome == "PASS"
    assert judge_tests(1, Counts(3, 2, 0), truncated=False, baseline=Counts(3, 1, 0)).outcome == "FAIL"


def test_a_skipped_test_never_counts_as_passed() -> None:
    assert judge_tests(0, Counts(0, 0, 5), truncated=False, baseline=None).outcome == "NOT_RUN"


@pytest.mark.parametrize(
    ("exit_code", "outcome"),
    [(0, "PASS"), (1, "FAIL"), (127, "NOT_RUN"), (126, "NOT_RUN"), (None, "INDETERMINATE")],
)
def test_a_check_passes_only_by_ending_with_zero(exit_code: int | None, outcome: str) -> None:
    assert judge_check(exit_code).outcome == outcome


def test_a_program_at_the_end_that_hides_an_exit_code_is_left_out() -> None:
    seen = {
        check: without_filter(check)
        for check in (
            "pytest -q 2>&1 | tee build.log",
            "make && ./run.sh | tail -n 5",
            "pytest -q; echo done",
            "pytest -q",
            "pytest -q | grep passed",
            "grep -rn TODO src | head",
            "set -o pipefail; pytest | tee build.log",
            "bash -c 'pytest | tee build.log'",
            "test -f a || cat b",
        )
    }
    assert {check: alone for check, alone in seen.items() if alone} == {
        "pytest -q 2>&1 | tee build.log": "pytest -q 2>&1",
        "make && ./run.sh | tail -n 5": "make && ./run.sh",
        "pytest -q; echo done": "pytest -q",
    }


@given(st.lists(st.sampled_from(get_args(Outcome)), max_size=6))
def test_together_they_pass_only_if_each_does(outcomes: list[Outcome]) -> None:
    assert (overall(outcomes) == "PASS") is (bool(outcomes) and set(outcomes) == {"PASS"})


@given(st.sampled_from(get_args(Outcome)), st.none() | st.integers(0, 9))
def test_evidence_stands_for_its_tree_only_when_it_ran_and_was_counted(
    outcome: Outcome, ran: int | None
) -> None:
    shown = Evidence(
        name="tests", argv=("make", "test"), exit_code=0, outcome=outcome, why="x", ran=ran,
        skipped=0, failed=0,
        output="sha256:0", duration_s=1.5, tree="t", new_failures=("a",), ring="bwrap",
    )  # fmt: skip
    assert shown.is_conclusive is (outcome in {"PASS", "FAIL"} and ran is not None)
    assert evidence_from(json.loads(json.dumps(shown._asdict()))) == shown


WORDS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]) | st.sampled_from("'\"$`\\! ")
)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_a_command_is_typed_as_the_words_that_ran(argv: list[str]) -> None:
    assert shlex.split(_ran(*argv).command) == argv


def test_single_quotes_stand_between_double_ones() -> None:
    code = "assert total(['a']) == 1"
    assert _ran("python", "-c", code).command == f'python -c "{code}"'


def _ran(*argv: str) -> Evidence:
    return Evidence(
        name="check", argv=argv, exit_code=0, outcome="PASS", why="", ran=None, skipped=None, failed=None,
        output="", duration_s=1.0, tree="t",
    )  # fmt: skip
