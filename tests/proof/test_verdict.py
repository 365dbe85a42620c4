from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.events.event import Failure
from asbuilt.proof.opinion import (
    Answer,
    Citation,
    Entry,
    Line,
    Opinion,
    PassedTest,
    RanCheck,
    Removal,
    opinion_from,
    plain_opinion,
)
from asbuilt.proof.verdict import Held, ItemVerdict, Promise, Verdict, Waiver, item_from, judge, one_spelling

INTENT = "sha256:1"
PROMISES = (Promise("`a.py` adds"), Promise("`old.py` is gone"), Promise("it is quick", is_criterion=True))
HELD = Held(
    intent=INTENT,
    changed=frozenset({"a.py", "empty.py"}),
    removed=frozenset({"old.py"}),
    lines={"a.py": 3, "empty.py": 0, "same.py": 9},
    checks={"tests": "PASS", "grep -q add a.py": "PASS", "false": "FAIL"},
    passed=frozenset({"tests.test_a.test_new", "tests.test_a.test_old", "tests.test_a.T.test_case[1]"}),
    idle=frozenset({"tests.test_a.test_old"}),
    says="I added the function and all tests pass.",
)
GOOD = (
    Entry(1, "PASS", "it adds", (Line("a.py", 2),)),
    Entry(2, "PASS", "it is gone", (Removal("old.py"),)),
    Entry(3, "PASS", "measured", (RanCheck("tests"),)),
)


WAIVER = Waiver("next year", "you", "2026-11-15")
IDLE = "tests that pass without this phase's work too"


def said(*entries: Entry, intent: str | None = INTENT, says: str = "") -> Opinion:
    return Opinion(intent, entries, says=says)


def on_item_1(*evidence: Citation, outcome: str = "PASS", why: str = "it adds") -> ItemVerdict:
    return judge(PROMISES, said(Entry(1, outcome, why, evidence), *GOOD[1:]), HELD).items[0]


def test_a_check_that_passes_without_the_phase_shows_no_item_and_may_show_a_criterion() -> None:
    check = "grep -q add a.py"
    held = HELD._replace(idle_checks=frozenset({check}))
    entries = (
        Entry(1, "PASS", "it adds", (RanCheck(check),)),
        GOOD[1],
        Entry(3, "PASS", "ok", (RanCheck(check),)),
    )
    first, _, third = judge(PROMISES, said(*entries), held).items
    assert (first.outcome, first.why, third.outcome) == (
        "FAIL",
        "it cites only checks that pass without this phase's work too",
        "PASS",
    )


def test_a_verifier_that_wrote_files_has_judged_nothing() -> None:
    verdict = judge(PROMISES, said(*GOOD), HELD._replace(written=("a.py",)))
    assert (verdict.outcome, verdict.unproven) == ("FAIL", ())
    assert verdict.faults == ("the verifier wrote files that it was given to read: a.py",)


def test_a_verdict_passes_when_every_item_has_one_entry_and_its_evidence_is_there() -> None:
    verdict = judge(PROMISES, said(*GOOD), HELD)
    assert verdict == Verdict(
        "PASS",
        (
            ItemVerdict(1, "`a.py` adds", "PASS", "it adds", ("a.py:2",)),
            ItemVerdict(2, "`old.py` is gone", "PASS", "it is gone", ("the removal of old.py",)),
            ItemVerdict(3, "it is quick", "PASS", "measured", ("the check `tests`",)),
        ),
    )
    assert (verdict.failures, verdict.unproven) == ((), ())


@pytest.mark.parametrize(
    "evidence",
    [
        Line("a.py", 1),
        Line("a.py", 3),
        Line("empty.py", None),
        Removal("old.py"),
        RanCheck("grep -q add a.py"),
        PassedTest("tests/test_a.py::test_new"),
        PassedTest("tests/test_a.py::T::test_case"),
        PassedTest("tests.test_a.T::test_case[1]"),
    ],
)
def test_each_kind_of_evidence_proves_an_item(evidence: Citation) -> None:
    assert on_item_1(evidence).outcome == "PASS"


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        ((), "it is called PASS without evidence: cite a check, a line of the diff, or a test"),
        ((Line("a.py", 4),), "it cites a.py:4, and the file has 3 lines"),
        ((Line("a.py", 0),), "it cites a.py:0, and the file has 3 lines"),
        ((Line("a.py", None),), "it cites a.py without a line"),
        ((Line("b.py", 1),), "it cites b.py:1, and the tree has no such file"),
        ((Line("same.py", 1),), "it cites only files that this phase did not change"),
        ((Removal("a.py"),), "it cites the removal of a.py, which this phase did not remove"),
        ((RanCheck("false"),), "it cites the check `false`, which is FAIL"),
        ((RanCheck("true"),), "it cites the check `true`, which asbuilt did not run"),
        ((RanCheck("tests"),), "it cites only the whole test suite, which shows no single item"),
        ((PassedTest("t::x"),), "it cites the test t::x, which did not run and pass"),
        (
            (PassedTest("tests/test_a.py::test_old"), Line("same.py", 1)),
            f"it cites only {IDLE}, and files that this phase did not change",
        ),
        ((Line("a.py", 1), Line("b.py", 1)), "it cites b.py:1, and the tree has no such file"),
    ],
)
def test_evidence_that_is_not_there_or_shows_nothing_fails_the_item(
    evidence: tuple[Citation, ...], why: str
) -> None:
    item = on_item_1(*evidence)
    assert (item.outcome, item.why) == ("FAIL", why)


def test_one_piece_of_this_phase_is_enough_beside_what_was_there_before() -> None:
    assert on_item_1(Line("same.py", 1), Line("a.py", 1)).outcome == "PASS"


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ((), ("NOT_RUN", "the verifier said nothing of it")),
        (
            (GOOD[0], GOOD[0]),
            ("FAIL", "it was judged 2 times: PASS, PASS"),
        ),
        ((Entry(1, "FAIL", "it subtracts"),), ("FAIL", "it subtracts")),
        ((Entry(1, "FAIL", ""),), ("FAIL", "the verifier gave no reason")),
        (
            (Entry(1, "partial", "", (Line("a.py", 1),)),),
            ("FAIL", "the verifier calls it “partial”, which is neither PASS nor FAIL"),
        ),
        (
            (Entry(1, "PASS", "adds; overflow is deferred to phase 2", (Line("a.py", 1),)),),
            (
                "FAIL",
                "it is called PASS, but its reason says “is deferred”: adds; overflow is deferred to phase 2",
            ),
        ),
    ],
)
def test_every_item_is_judged_once_and_plainly(entries: tuple[Entry, ...], why: tuple[str, str]) -> None:
    verdict = judge(PROMISES, said(*entries, *GOOD[1:]), HELD)
    assert (verdict.outcome, verdict.items[0][2:4]) == ("FAIL", why)
    assert (verdict.unproven, verdict.faults) == ((1,), ())


@pytest.mark.parametrize(
    ("opinion", "fault"),
    [
        (None, "there is none, only words: every item needs an entry with an outcome and evidence"),
        (said(*GOOD, intent="sha256:2"), "it is for another intent, sha256:2; this phase's is sha256:1"),
        (said(*GOOD, intent=None), "it is for no intent; this phase's is sha256:1"),
        (
            said(*GOOD, Entry(4, "PASS", "x", (Line("a.py", 1),)), Entry(0, "PASS", "x")),
            "it judges item 0, 4, and the phase has 3",
        ),
        (
            said(*GOOD, says="I added the function\nand all tests pass."),
            "it is a copy of the implementer's message, not a judgement",
        ),
        (
            said(GOOD[0]._replace(why="i added the function and all tests pass."), *GOOD[1:]),
            "it is a copy of the implementer's message, not a judgement",
        ),
        (Opinion(INTENT, GOOD, ("row 4 is odd",)), "row 4 is odd"),
    ],
)
def test_an_opinion_that_is_none_or_of_something_else_fails_as_a_whole_and_cannot_be_waived(
    opinion: Opinion | None, fault: str
) -> None:
    verdict = judge(PROMISES, opinion, HELD, waivers=dict.fromkeys((1, 2, 3), WAIVER))
    assert (verdict.outcome, verdict.faults, verdict.unproven) == ("FAIL", (fault,), ())
    assert verdict.failures[0] == Failure(fault, is_fault=True)


@pytest.mark.parametrize(
    ("message", "words", "outcome"),
    [
        ("done", "done", "PASS"),
        ("I added the function.", "I added the function. It holds: line 2 adds.", "PASS"),
        ("word " * 59, "word " * 90, "FAIL"),
    ],
)
def test_short_words_and_words_that_go_on_are_no_copy(message: str, words: str, outcome: str) -> None:
    assert judge(PROMISES, said(*GOOD, says=words), HELD._replace(says=message)).outcome == outcome


def test_a_waiver_accepts_its_items_and_no_others_and_their_outcome_stays() -> None:
    opinion = said(Entry(1, "FAIL", "it subtracts"), Entry(2, "FAIL", "it is there"), GOOD[2])
    of_both = judge(PROMISES, opinion, HELD, waivers={1: WAIVER, 2: WAIVER})
    assert (of_both.outcome, of_both.failures, of_both.unproven) == ("PASS", (), (1, 2))
    assert of_both.items[0] == ItemVerdict(1, "`a.py` adds", "FAIL", "it subtracts", (), "next year (you)")
    of_one = judge(PROMISES, opinion, HELD, waivers={1: WAIVER})
    assert (of_one.outcome, of_one.failures) == (
        "FAIL",
        (Failure("`old.py` is gone: FAIL, it is there", 2),),
    )


def test_a_phase_without_items_has_no_verdict_that_passes() -> None:
    assert judge((), said(), HELD).outcome == "FAIL"


numbers = st.integers(0, 4)
words = st.sampled_from(["PASS", "FAIL", "pass", "", "maybe"])
citations = st.sampled_from([Line("a.py", 1), Line("a.py", 9), Removal("x"), RanCheck("tests")])
entries = st.builds(Entry, numbers, words, st.just("x"), st.lists(citations, max_size=2).map(tuple))
good = st.sampled_from(GOOD)


@given(st.lists(good | entries, max_size=6), st.sampled_from([INTENT, "sha256:2", None]))
def test_a_verdict_passes_only_when_each_item_is_passed_once_with_evidence(
    told: list[Entry], intent: str | None
) -> None:
    verdict = judge(PROMISES, said(*told, intent=intent), HELD)
    once = sorted(entry.item for entry in told) == [1, 2, 3]
    expected = once and intent == INTENT and all(_proves(entry) for entry in told)
    assert (verdict.outcome == "PASS") is expected


def _proves(entry: Entry) -> bool:
    """Tell by the facts above alone whether an entry passes its item."""
    about_the_phase = {Line("a.py", 1), Line("a.py", 2), Removal("old.py")}
    there = about_the_phase | {RanCheck("tests")}
    enough = there if entry.item == 3 else about_the_phase
    cited = set(entry.evidence)
    return entry.outcome.upper() == "PASS" and cited <= there and bool(cited & enough)


@given(st.lists(entries, max_size=4), st.sampled_from([INTENT, None]))
def test_an_opinion_comes_back_from_json_as_it_was(told: list[Entry], intent: str | None) -> None:
    answers = (Answer("flag", True, "SALE is off", Line("a.py", 2)), Answer("judge", False, "", None))
    opinion = Opinion(intent, tuple(told), ("odd",), "words", answers)
    assert opinion_from(json.loads(json.dumps(plain_opinion(opinion)))) == opinion


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["items", "item", "outcome", "evidence", "file", "line", "intent"]), inner
            )
        ),
        max_leaves=20,
    )
)
def test_whatever_a_verifier_leaves_is_read(left: object) -> None:
    judge(PROMISES, opinion_from(left), HELD)


@pytest.mark.parametrize(
    ("left", "opinion"),
    [
        ([[1, "PASS", "a"]], Opinion(None, (Entry(1, "PASS", "a"),))),
        ("all good", Opinion(None, (), ("the verdict has no list of items",))),
        (
            {"intent": 5, "items": [{"item": True, "outcome": "PASS"}, 7]},
            Opinion(
                None,
                (),
                (
                    "row 1 of the verdict says nothing about an item",
                    "row 2 of the verdict says nothing about an item",
                ),
            ),
        ),
        (
            {"intent": INTENT, "items": [{"item": 1, "outcome": "PASS", "evidence": [{"file": "./a"}, "b"]}]},
            Opinion(
                INTENT,
                (Entry(1, "PASS", "", (Line("a", None),)),),
                ("item 1 cites something that is neither a check, a file, a removal nor a test",),
            ),
        ),
    ],
)
def test_what_is_not_understood_is_told(left: Any, opinion: Opinion) -> None:  # noqa: ANN401 - any JSON
    assert opinion_from(left) == opinion


def test_an_answer_that_is_not_understood_is_left_out_and_voids_nothing() -> None:
    rows = [
        {"question": "table", "found": True, "why": "a dict", "file": "a.py", "line": 2},
        {"question": "table", "found": False, "why": "said twice"},
        {"question": "weather", "found": True, "why": "rain"},
        {"question": "flag", "found": "no"},
        {"question": "errors", "found": False, "check": "tests"},
        7,
    ]
    left = {"intent": INTENT, **plain_opinion(said(*GOOD)), "answers": rows}
    opinion = opinion_from(left)
    assert opinion.answers == (
        Answer("table", True, "a dict", Line("a.py", 2)),
        Answer("errors", False, "", None),
    )
    assert judge(PROMISES, opinion, HELD).outcome == "PASS"


def test_what_an_old_journal_kept_of_an_item_is_read() -> None:
    assert item_from([1, "a", "PASS", "seen"]) == ItemVerdict(1, "a", "PASS", "seen")
    new = ItemVerdict(1, "a", "FAIL", "no", ("a.py:1",), "fine (you)")
    assert item_from(json.loads(json.dumps(new))) == new


def test_a_tests_name_has_one_spelling() -> None:
    assert one_spelling("tests/a_test.py::T::b[x/y.py]") == one_spelling("tests.a_test.T::b[x/y.py]")
