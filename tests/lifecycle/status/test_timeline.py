from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.lifecycle.status.timeline import Span, spans_of
from tests.support.happened import happened

if TYPE_CHECKING:
    from asbuilt.events.event import Entry

Told = tuple[str, str, dict[str, object]]
KEPT: dict[str, object] = {"commit": "c", "tree": "t", "changed": True}
PASSED: dict[str, object] = {"outcome": "PASS"}


def entries(events: list[Told]) -> list[Entry]:
    return happened((kind, {"at": at, **data}) for at, kind, data in events)


def test_the_time_of_a_run_is_told_by_what_was_done_in_it() -> None:
    events: list[Told] = [
        ("01", "run.started", {"base": "b"}),
        ("03", "phase.begun", {"phase": "1"}),
        ("03", "attempt.begun", {"phase": "1", "number": 1, "role": "implement"}),
        ("05", "attempt.ended", {"phase": "1", "number": 1, "ending": "done"}),
        ("05", "run.parked", {"reason": "limit", "why": "usage limit"}),
        ("09", "attempt.begun", {"phase": "1", "number": 1, "role": "implement"}),
        ("10", "attempt.ended", {"phase": "1", "number": 1, "ending": "done"}),
        ("11", "tree.kept", {"phase": "1", "number": 1, **KEPT}),
        ("14", "checks.done", {"phase": "1", "number": 1, **PASSED}),
        ("14", "verifier.begun", {"phase": "1", "number": 1}),
        ("16", "verdict.given", {"phase": "1", "number": 1, **PASSED}),
        ("16", "together.judging", {}),
        ("17", "together.judged", PASSED),
        ("17", "landing.intended", {"old": "o", "new": "n"}),
        ("18", "landing.done", {"new": "n"}),
        ("19", "attempt.begun", {"phase": "2", "number": 1, "role": "implement"}),
    ]
    assert spans_of(entries(events), "25") == (
        Span("prepare", "", "01", "03", "setup and baseline"),
        Span("work", "1", "03", "05", "attempt 1, implement"),
        Span("wait", "", "05", "09", "usage limit"),
        Span("work", "1", "09", "10", "attempt 1, implement"),
        Span("check", "1", "11", "14", "checks of attempt 1"),
        Span("judge", "1", "14", "16", "verifier of attempt 1"),
        Span("judge", "", "16", "17", "verifier of all phases together"),
        Span("land", "", "17", "18", "landing"),
        Span("work", "2", "19", "25", "attempt 1, implement"),
    )


def test_a_run_that_only_verifies_has_checks_and_nothing_else() -> None:
    events: list[Told] = [
        ("01", "run.started", {"base": "b"}),
        ("03", "baseline.done", PASSED),
        ("06", "phase.rechecked", {"phase": "1", **PASSED}),
        ("09", "phase.rechecked", {"phase": "2", **PASSED}),
    ]
    assert spans_of(entries(events), "25") == (
        Span("prepare", "", "01", "06", "setup and baseline"),
        Span("check", "1", "03", "06", "checks"),
        Span("check", "2", "06", "09", "checks"),
    )


def test_which_question_a_run_waits_for_is_no_matter_of_time() -> None:
    events: list[Told] = [
        ("01", "run.parked", {"reason": "answer", "why": "approval sign-off/sha256:a7f9/d5f4/01m7"}),
        ("01", "attention.called", {"way": "desktop", "about": "run.parked"}),
    ]
    assert spans_of(entries(events), "02") == (Span("wait", "", "01", "02", "for an answer"),)
