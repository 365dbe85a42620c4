from __future__ import annotations

from typing import Any

from asbuilt.events.options import RunOptions
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.limits import FIX_LIMIT
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.moves import until_answered
from tests.support.happened import happened

RUN, NOW = "r1", "2026-11-15T00:00:00Z"
WORDS = "the plan says 60, and `wc` gives 93"
DIFF = f"{WORDS}\n- at most 60\n+ at most 93"
KEY, OTHER = (f"drift/sha256:1/{item}/93/{RUN}" for item in (2, 3))
ASK, ASK_OTHER = (
    moves.Ask(key, "drift", f"correct phase 1 of the plan? {DIFF}", "1") for key in (KEY, OTHER)
)
FIX = moves.Attempt("1", 2, "fix", ("item 2, a: FAIL, no",))
LAST = FIX_LIMIT + 1


def judged(
    *answers: tuple[str, str | None],
    auto: bool = False,
    flagged: bool = True,
    items: tuple[int, ...] = (2,),
    stops: tuple[str, ...] = (),
    attempts: int = 1,
    checks: str = "PASS",
) -> moves.Move:
    """Choose what comes after an attempt whose verdict turns on these numbers."""
    tests: dict[str, Any] = {"source": "notests", "command": None, "found": [], "said": True}
    told: list[tuple[str, dict[str, Any]]] = [
        ("run.started", {"base": "b", "phases": {"1": []}}),
        ("tests.resolved", tests),
        ("workspace.made", {}),
        ("setup.done", {"outcome": "PASS"}),
        ("baseline.done", {"outcome": "PASS"}),
        ("phase.begun", {"phase": "1", "intent": "sha256:1"}),
    ]
    asks = [[item, 93, flagged, DIFF] for item in items]
    for number in range(1, attempts + 1):
        about = {"phase": "1", "number": number}
        told += [
            ("attempt.begun", {**about, "role": "fix" if number > 1 else "implement"}),
            ("attempt.ended", {**about, "ending": "done"}),
            ("tree.kept", {**about, "commit": "c", "tree": "t", "changed": True}),
            ("checks.done", {**about, "outcome": checks}),
            ("drift.found", {**about, "numbers": "d", "asks": asks, "stops": list(stops), "notes": []}),
        ]
        if checks == "PASS":
            verdict = {
                "outcome": "FAIL",
                "failures": [{"item": 2, "text": "a: FAIL, no"}],
                "unproven": list(items),
            }
            told.append(("verdict.given", {**about, **verdict}))
    for key, answer in answers:
        told.append(("approval.asked", {"key": key, "number": 1}))
        if answer is not None:
            told.append(("approval.answered", {"key": key, "number": 1, "answer": answer}))
    entries = happened((kind, {"run": RUN, **data}) for kind, data in told)
    return next_move(fold(RUN, RunOptions(auto=auto), entries), NOW)


def test_a_number_that_an_agent_points_at_is_put_to_a_person_at_once() -> None:
    assert judged() == ASK
    assert judged((KEY, None)) == until_answered(KEY)
    assert judged((KEY, "yes")) == moves.Commit("1", 1)
    assert judged((KEY, "no")) == FIX


def test_every_number_needs_its_yes() -> None:
    assert judged((KEY, None), items=(2, 3)) == ASK_OTHER
    assert judged((KEY, "yes"), (OTHER, None), items=(2, 3)) == until_answered(OTHER)
    assert judged((KEY, "yes"), (OTHER, "no"), items=(2, 3)) == FIX
    assert judged((KEY, "yes"), (OTHER, "yes"), items=(2, 3)) == moves.Commit("1", 1)


def test_a_number_that_nobody_spoke_of_is_given_back_first() -> None:
    assert judged(flagged=False) == FIX
    assert judged(flagged=False, attempts=LAST) == ASK


def test_unattended_it_is_mended_or_offered_and_nobody_is_waited_for() -> None:
    assert judged(auto=True) == FIX
    assert judged(auto=True, attempts=LAST) == ASK
    ends = moves.End("failed", f"phase 1: {WORDS}.", "asbuilt approve, then run it again")
    assert judged((KEY, None), auto=True, attempts=LAST) == ends


def test_a_number_that_is_corrected_again_stops_the_run() -> None:
    way_on = "check the measurement and edit the plan"
    ends = moves.End("failed", f"phase 1: {WORDS}; it was corrected before.", way_on)
    assert judged(stops=(WORDS,)) == ends
    before = f"drift/sha256:1/2/91/{RUN}"
    ends = moves.End("failed", f"phase 1: {WORDS}; you accepted another number before.", way_on)
    assert judged((before, "yes")) == ends
    assert judged((before, "no")) == ASK


def test_a_red_check_is_mended_whatever_the_numbers_are() -> None:
    assert judged(checks="FAIL") == moves.Attempt("1", 2, "fix", ())
