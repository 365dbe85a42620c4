from __future__ import annotations

from typing import Any

from asbuilt.lifecycle.critique.additions import Standing, State
from asbuilt.lifecycle.critique.anchors import Anchor
from asbuilt.lifecycle.critique.findings import FileLine, Finding, Kind, Level, PlanLine
from asbuilt.lifecycle.memory import (
    LONGEST,
    OF_ONE,
    Lesson,
    Memory,
    lesson,
    lessons_of_critique,
    lessons_of_run,
    ranked,
    recall,
)
from asbuilt.lifecycle.memory import Kind as Remembered
from tests.support.happened import happened

LESSON = Remembered.LESSON


def _known(*texts: str, files: tuple[str, ...] = ()) -> list[Memory]:
    return [Memory(number, LESSON, text, files, "", "", "") for number, text in enumerate(texts, 1)]


def test_a_run_teaches_why_it_was_not_proven_and_which_numbers_were_off() -> None:
    judged, other = (
        {"run": "r", "phase": "2", "number": 1, "outcome": "FAIL"},
        {"run": "other", "phase": "2", "number": 1, "outcome": "FAIL"},
    )
    drift = {
        "number": 1,
        "numbers": "n",
        "asks": [[2, 93, False, "tests: 93, not 90\n- 90\n+ 93"]],
        "stops": ["off again"],
        "notes": ["no rule"],
    }
    events: list[tuple[str, dict[str, Any]]] = [
        ("checks.done", {"run": "r", "phase": "1", "number": 1, "outcome": "PASS", "failures": []}),
        ("checks.done", {**judged, "failures": ["tests: FAIL, 2 of 9 failed"]}),
        (
            "verdict.given",
            {**judged, "failures": [{"item": 3, "text": "a retry: FAIL, a stub in sync/retry.py"}]},
        ),
        ("checks.done", {**other, "failures": ["not of this run"]}),
        ("drift.found", {"run": "r", "phase": "2", **drift}),
        ("phase.proven", {"run": "r", "phase": "2", "commit": "c"}),
        ("together.done", {"run": "r", "outcome": "FAIL", "failures": ["tests: FAIL, together"]}),
    ]
    assert lessons_of_run("r", slug="sync", plan="plans/sync.md", entries=happened(events)) == tuple(
        Lesson(LESSON, text, files, "plans/sync.md")
        for text, files in (
            ("sync, phase 2: tests: FAIL, 2 of 9 failed (proven later)", ()),
            (
                "sync, phase 2: item 3, a retry: FAIL, a stub in sync/retry.py (proven later)",
                ("sync/retry.py",),
            ),
            ("sync, phase 2: tests: 93, not 90 (proven later)", ()),
            ("sync, phase 2: off again (proven later)", ()),
            ("sync, phase 2: no rule (proven later)", ()),
            ("sync: tests: FAIL, together", ()),
        )
    )


def test_a_run_teaches_ten_things_at_most_and_each_once() -> None:
    told = [f"check {number}: FAIL" for number in range(20)]
    event = ("checks.done", {"run": "r", "phase": "1", "number": 1, "outcome": "FAIL", "failures": told})
    drawn = lessons_of_run("r", slug="sync", plan="", entries=happened([event, event]))
    assert [one.text for one in drawn] == [f"sync, phase 1: {one}" for one in told[:OF_ONE]]


def test_a_critique_teaches_what_was_material_the_worst_first() -> None:
    def standing(level: Level, text: str) -> Standing:
        cited = (PlanLine(4, "Client uses it"), FileLine("sync/client.py", 9))
        finding = Finding("P4", Anchor("2", "Client uses it"), Kind.MISSING, level, text, cited)
        return Standing("F1", finding, (text,), (1,), State.RESOLVED)

    told = [
        standing(Level.MINOR, "Small."),
        standing(Level.MATERIAL, "Wrong."),
        standing(Level.BLOCKING, "Worse."),
    ]
    assert lessons_of_critique(told, task="retries") == tuple(
        Lesson(LESSON, f"P4 missing at “Client uses it”: {text} (plan for: retries)", ("sync/client.py",))
        for text in ("Worse.", "Wrong.")
    )


def test_what_is_remembered_is_one_line_that_a_database_takes() -> None:
    told = lesson(LESSON, "a\x00b\n\n  c \udcff " + "x" * 2_000)
    assert (told.text[:9], len(told.text), told.text[-1]) == ("a?b c ? x", LONGEST, "…")


def test_the_files_that_a_text_names_are_known_and_no_call_is_one() -> None:
    told = lesson(
        LESSON, "tests/test_shop.py:13: unittest.skip('x') in app.py, see .github/workflows/ci.yml, 3/4"
    )
    assert told.files == ("tests/test_shop.py", "app.py", ".github/workflows/ci.yml")


def test_what_is_about_the_same_files_and_words_is_recalled_first_then_the_newest() -> None:
    known = [
        *_known("the redis lock timed out", "the parser was wrong", "the panel had no button"),
        Memory(4, LESSON, "a stub", ("src/limits/bucket.py",), "", "", ""),
        Memory(5, LESSON, "a typo", ("src/limits/keys.py",), "", "", ""),
        Memory(6, LESSON, "nothing of it", (), "", "", ""),
    ]
    found = recall(known, about="why did the Redis locks of src/limits/bucket.py fail")
    assert [one.name for one in found] == ["m4", "m1", "m5", "m6", "m3", "m2"]


def test_a_rare_word_weighs_more_than_one_that_everything_has() -> None:
    known = _known("tests fail in redis", "tests fail in billing", "tests fail in search")
    weights = [(memory.name, weight) for weight, memory in ranked(known, about="tests of billing")]
    assert weights == [("m2", 1 + 1 / 3), ("m3", 1 / 3), ("m1", 1 / 3)]


def test_no_more_is_recalled_than_fits() -> None:
    known = _known("x" * 40, "y" * 200, "z" * 40)
    assert [one.name for one in recall(known, budget=100)] == ["m3", "m1"]
    assert recall(known, budget=40) == ()
