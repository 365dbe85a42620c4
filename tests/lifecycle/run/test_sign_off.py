from __future__ import annotations

from typing import Any

import pytest

from asbuilt.events.options_json import read_options
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.moves import until_answered
from tests.support.happened import happened

RUN, NOW = "r1", "2026-11-15T00:00:00Z"
FIRST, OTHER = f"sign-off/sha256:1/a/{RUN}", f"sign-off/sha256:1/b/{RUN}"
ASK = moves.Ask(FIRST, "sign-off", "sign off a?", "1")
ASK_OTHER = moves.Ask(OTHER, "sign-off", "sign off b?", "1")
NO = moves.End(
    "stopped",
    "you declined a change of phase 1, so nothing landed; after an undo, the next attempt gets your reason",
    "`asbuilt land greet --undo`",
    "decide again: `asbuilt land greet`",
)


def proven(
    *answers: tuple[str, str | None],
    kind: str = "land",
    landing: str = "",
    **options: Any,  # noqa: ANN401
) -> moves.Move:
    """Choose what comes when all is proven and two changes want a sign-off, asked and answered so."""
    tests: dict[str, Any] = {"source": "notests", "command": None, "found": [], "said": True}
    told: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"base": "b", "phases": {"1": []}, "done": ["1"], "unlanded": [["1", "r0", "c"]]}),
        ("tests.resolved", tests),
        ("workspace.made", {}),
        ("setup.done", {"outcome": "PASS"}),
        ("baseline.done", {"outcome": "PASS"}),
        ("together.done", {"outcome": "PASS"}),
        ("report.written", {"report": "d"}),
        ("signoff.wanted", {"item": "sign-off/sha256:1/a", "phase": "1", "question": "sign off a?"}),
        ("signoff.wanted", {"item": "sign-off/sha256:1/b", "phase": "1", "question": "sign off b?"}),
        ("plan.compared", {"point": "landing"}),
    ]
    for key, answer in answers:
        told.append(("approval.asked", {"key": key, "number": 1}))
        if answer is not None:
            told.append(("approval.answered", {"key": key, "number": 1, "answer": answer}))
    if landing:
        told.append(("landing.intended", {"old": "o", "new": "n"}))
    entries = happened((name, {"run": RUN, **data}) for name, data in told)
    return next_move(fold(RUN, read_options({"kind": kind, "slug": "greet", **options}), entries), NOW)


@pytest.mark.parametrize("options", [{"kind": "land"}, {"kind": "run", "auto": True, "mode": "finish"}])
def test_every_change_is_asked_about_before_one_is_waited_for_and_auto_answers_none(
    options: dict[str, Any],
) -> None:
    assert proven(**options) == ASK
    assert proven((FIRST, None), **options) == ASK_OTHER
    assert proven((FIRST, None), (OTHER, None), **options) == until_answered(FIRST)
    assert proven((FIRST, "yes"), (OTHER, None), **options) == until_answered(OTHER)
    assert proven((FIRST, "yes"), (OTHER, "yes"), **options) == moves.Land()
    assert proven((FIRST, None), (OTHER, "no"), **options) == NO


def test_a_run_that_holds_says_how_many_and_asks_nobody() -> None:
    reason = "proven; landing was not requested"
    wanted = "before it lands you have to sign off 2 of its changes"
    assert proven(kind="run", mode="finish") == moves.End("held", f"{reason}; {wanted}")


def test_a_landing_that_was_begun_is_brought_to_its_end() -> None:
    assert proven(landing="intended") == moves.Land()
