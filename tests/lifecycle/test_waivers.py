from __future__ import annotations

from typing import Any

import pytest

from asbuilt.events.options import RunOptions
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.limits import FIX_LIMIT
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.moves import until_answered
from tests.support.happened import happened

RUN, NOW = "r1", "2026-11-15T00:00:00Z"
FIRST, OTHER = f"waiver/sha256:1/1/{RUN}", f"waiver/sha256:1/3/{RUN}"
ASK = moves.Ask(FIRST, "waiver", "accept phase 1 without this item? Give a reason. item 1, a: FAIL, no", "1")
ASK_OTHER = moves.Ask(OTHER, "waiver", "accept phase 1 without this item? Give a reason. item 3", "1")
GIVEN_UP = moves.End("failed", "phase 1 is not proven after 2 fixes: item 1, a: FAIL, no")
LAST = FIX_LIMIT + 1


def judged(
    *answers: tuple[str, str | None],
    auto: bool = False,
    checks: str = "PASS",
    unproven: tuple[int, ...] = (1, 3),
) -> moves.Move:
    """Choose what comes after the last fix was judged, the question asked and answered so."""
    tests: dict[str, Any] = {"source": "notests", "command": None, "found": [], "said": True}
    told: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"base": "b", "phases": {"1": []}}),
        ("tests.resolved", tests),
        ("workspace.made", {}),
        ("setup.done", {"outcome": "PASS"}),
        ("baseline.done", {"outcome": "PASS"}),
        ("phase.begun", {"phase": "1", "intent": "sha256:1"}),
    ]
    for number in range(1, LAST + 1):
        about = {"phase": "1", "number": number}
        told += [
            ("attempt.begun", {**about, "role": "fix" if number > 1 else "implement"}),
            ("attempt.ended", {**about, "ending": "done"}),
            ("tree.kept", {**about, "commit": "c", "tree": "t", "changed": True}),
            ("checks.done", {**about, "outcome": checks}),
        ]
        if checks == "PASS":
            verdict = {
                "outcome": "FAIL",
                "failures": [{"item": 1, "text": "a: FAIL, no"}],
                "unproven": list(unproven),
            }
            told.append(("verdict.given", {**about, **verdict}))
    for key, answer in answers:
        told.append(("approval.asked", {"key": key, "number": 1}))
        if answer is not None:
            told.append(("approval.answered", {"key": key, "number": 1, "answer": answer}))
    entries = happened((kind, {"run": RUN, **data}) for kind, data in told)
    return next_move(fold(RUN, RunOptions(auto=auto), entries), NOW)


def test_what_no_fix_has_brought_about_is_put_to_a_person_item_by_item() -> None:
    assert judged() == ASK
    assert judged((FIRST, None)) == ASK_OTHER
    assert judged((FIRST, None), (OTHER, None)) == until_answered(FIRST)
    assert judged((FIRST, "yes"), (OTHER, None)) == until_answered(OTHER)
    assert judged((FIRST, "yes"), (OTHER, "yes")) == moves.Commit("1", LAST)
    assert judged((FIRST, None), (OTHER, "no")) == GIVEN_UP


def test_unattended_it_is_offered_and_nobody_is_waited_for() -> None:
    assert judged(auto=True) == ASK
    assert judged((FIRST, None), (OTHER, None), auto=True) == GIVEN_UP


@pytest.mark.parametrize("auto", [True, False])
def test_neither_a_red_check_nor_a_void_opinion_can_be_waived(auto: bool) -> None:  # noqa: FBT001
    assert isinstance(judged(auto=auto, checks="FAIL"), moves.End)
    assert judged(auto=auto, unproven=()) == GIVEN_UP
