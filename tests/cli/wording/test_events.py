from __future__ import annotations

from typing import Any

import pytest

from asbuilt.cli.wording import events
from asbuilt.cli.wording.events import Line, event_line
from asbuilt.events.kinds import KINDS
from tests.support.happened import happened

LATER = "2026-11-15T05:00:00.000Z"


def line(kind: str, **data: Any) -> Line:  # noqa: ANN401
    return event_line(happened([(kind, {"at": LATER, **data})])[0])


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        (
            "trouble.met",
            {"what": "No space left on device: blobs", "retry_at": LATER},
            Line("-", "RETRY", "at 2026-11-15T05:00:00Z: No space left on device: blobs"),
        ),
        (
            "run.parked",
            {"reason": "trouble", "why": "trouble: No space left on device: blobs", "until": LATER},
            Line(
                "-",
                "PARKED",
                "until 2026-11-15T05:00:00Z: trouble: No space left on device: blobs",
                is_news=False,
            ),
        ),
        (
            "run.parked",
            {"reason": "limit", "why": "usage limit of the agent in phase 1", "until": LATER},
            Line("-", "PARKED", "until 2026-11-15T05:00:00Z: usage limit of the agent in phase 1"),
        ),
        (
            "run.parked",
            {"reason": "answer", "why": "approval 01m7gvc8ap4tdyctjdrd8dw01p/between/3"},
            Line("-", "PARKED", "for an answer"),
        ),
        (
            "tests.resolved",
            {
                "source": "given",
                "command": None,
                "suites": [["api", "pytest", "", "tests"], ["", "make test", "", "exit-code"]],
            },
            Line("-", "TESTS", "pytest in api + make test (by exit code alone) (configured)"),
        ),
        (
            "tests.resolved",
            {"source": "notests", "command": None},
            Line("-", "TESTS", "none found; only the plan's checks will run"),
        ),
        ("run.stop_asked", {}, Line("-", "STOP", "asked by the user")),
        ("run.stop_asked", {"reason": "wrong plan"}, Line("-", "STOP", "asked: wrong plan")),
        ("landing.undone", {}, Line("-", "UNDONE", "the landed commits are reverted")),
        ("landing.undone", {"reverted": False}, Line("-", "UNDONE", "nothing had landed")),
        (
            "landing.done",
            {"new": "4" * 40, "branch": "main", "reverts": True},
            Line("-", "REVERTED", "main 4444444"),
        ),
        (
            "landing.done",
            {"new": "4" * 40, "branch": "main", "reverts": True, "moved": False},
            Line("-", "REVERTED", "nothing on main", is_news=False),
        ),
        (
            "tree.refused",
            {"phase": "1", "number": 1, "reason": "big.bin is too large."},
            Line("1", "TOO LARGE", "big.bin is too large."),
        ),
        (
            "plan.completed",
            {"gaps": ["phase 1 says “future work”", "an agent of phase 1 said “noted as gap”"]},
            Line(
                "-",
                "COMPLETE",
                "every phase of the plan is done; check: phase 1 says “future work”;"
                " an agent of phase 1 said “noted as gap”",
            ),
        ),
        ("plan.completed", {"gaps": []}, Line("-", "COMPLETE", "every phase of the plan is done")),
        (
            "plan.compared",
            {"point": "landing"},
            Line("-", "COMPARED", "the plan's text with what is proven", is_news=False),
        ),
        (
            "plan.differs",
            {"phase": "1", "point": "1", "commit": "c", "intent": None},
            Line("1", "DIFFERS", "its text was changed in the plan after it was frozen"),
        ),
        (
            "verifier.ended",
            {"phase": "1", "number": 1, "ending": "crashed", "reason": "exit 1"},
            Line("1", "VERIFIER", "crashed: exit 1"),
        ),
    ],
)
def test_an_event_is_told_in_words(kind: str, data: dict[str, Any], words: Line) -> None:
    assert line(kind, **data) == words


def test_every_kind_of_event_that_is_written_has_words() -> None:
    assert set(KINDS) - {kind.kind for kind in events.WORDS} == set()
