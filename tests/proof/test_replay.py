from __future__ import annotations

from asbuilt.proof.evidence import Evidence
from asbuilt.proof.remarks import Remark
from asbuilt.proof.replay import Again, checks_again, remarks_again, verdict_again
from asbuilt.proof.suites.model import Severity
from asbuilt.proof.verdict import ItemVerdict, Verdict

TESTS = Evidence(
    "tests", ("pytest",), 0, "PASS", "12 ran, 0 skipped", 12, 0, 0, "sha256:0", 1.0, "7" * 40, ring="bwrap"
)
CHECK = Evidence("make it", ("make", "it"), 0, "PASS", "exit 0", None, None, None, "sha256:1", 1.0, "7" * 40)
SETUP = CHECK._replace(name="setup", outcome="INDETERMINATE", why="exit 1")
FIRST = ItemVerdict(1, "it greets", "PASS", "seen", ("a.py:1",))
SECOND = ItemVerdict(2, "it is quick", "FAIL", "it is not", waived="later (you)")


def test_what_comes_out_as_then_holds_and_tells_how_it_differs() -> None:
    again = TESTS._replace(ran=13, why="13 ran, 0 skipped", ring="none")
    assert [*checks_again([TESTS, CHECK], [again, CHECK])] == [
        Again(
            "tests", "PASS", "PASS",
            "13 ran, 0 skipped, 0 failed; then 12 ran, 0 skipped, 0 failed; held by none; then by bwrap",
        ),
        Again("make it", "PASS", "PASS"),
    ]  # fmt: skip


def test_a_check_that_has_become_red_does_not_hold_and_one_that_has_become_green_neither() -> None:
    red, green = CHECK._replace(outcome="FAIL", why="exit 2"), CHECK._replace(why="exit 0")
    assert [(row, row.holds) for row in checks_again([CHECK], [red])] == [
        (Again("make it", "PASS", "FAIL", "exit 2"), False)
    ]
    assert [(row, row.holds) for row in checks_again([red], [green])] == [
        (Again("make it", "FAIL", "PASS", "exit 0"), False)
    ]


def test_where_the_setup_fails_nothing_holds_and_it_says_so() -> None:
    assert [*checks_again([TESTS, CHECK], [SETUP])] == [
        Again("tests", "PASS", "NOT_RUN", "setup: exit 1"),
        Again("make it", "PASS", "NOT_RUN", "setup: exit 1"),
    ]


def test_an_item_holds_by_its_outcome_whether_a_person_waived_it_or_not() -> None:
    now = Verdict("FAIL", (FIRST, SECOND._replace(waived="")))
    assert [*verdict_again([FIRST, SECOND], [], now)] == [
        Again("verdict", "sound", "sound"),
        Again("item 1", "PASS", "PASS"),
        Again("item 2", "FAIL", "FAIL"),
    ]


def test_a_verdict_that_is_void_now_and_an_item_that_lost_its_evidence_do_not_hold() -> None:
    lost = FIRST._replace(outcome="FAIL", why="it cites a.py:1, and the tree has no such file")
    assert [*verdict_again([FIRST, SECOND], [], Verdict("FAIL", (lost,), ("it is for no intent",)))] == [
        Again("verdict", "sound", "void", "it is for no intent"),
        Again("item 1", "PASS", "FAIL", "it cites a.py:1, and the tree has no such file"),
        Again("item 2", "FAIL", "NOT_RUN", "the phase has no such item"),
    ]


def test_what_was_noticed_about_a_change_holds_when_it_is_noticed_again() -> None:
    skipped = Remark("test-skipped", Severity.FAILS, "tests/test_a.py", "test_a", 3, now="@skip")
    ci = Remark("ci-changed", Severity.SIGN_OFF, ".gitlab-ci.yml")
    once = Remark("flaky-test", Severity.SIGN_OFF, "tests/test_b.py")
    assert [*remarks_again([skipped, once], [skipped])] == [Again("remarks about the changes", "1", "1")]
    assert [*remarks_again([skipped], [skipped._replace(severity=Severity.NOTE), ci])] == [
        Again("remarks about the changes", "1", "2"),
        Again("tests/test_a.py:3, test_a: test skipped: now “@skip”", "fails", "note"),
        Again(".gitlab-ci.yml: ci changed", "not noticed", "sign_off"),
    ]


def test_a_remark_that_an_older_version_identified_by_its_wording_is_noticed_again() -> None:
    now = Remark("ci-changed", Severity.SIGN_OFF, "ci.yml", now="it is another", content="7", identity="")
    assert all(row.holds for row in remarks_again([now._replace(identity=None)], [now]))
    reworded = now._replace(now="it was changed")
    assert all(row.holds for row in remarks_again([now], [reworded]))
    assert not all(row.holds for row in remarks_again([now._replace(content="8")], [now]))
