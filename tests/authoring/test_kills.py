from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.approvals import ApprovalAsked
from asbuilt.events.attempts import AttemptBegun
from asbuilt.events.authoring import StageJudged
from tests.authoring.desk import PLAN, say, turn
from tests.authoring.outputs import QUESTIONS, STAGED
from tests.journeys.shop import BOTH, LONG, one_store

if TYPE_CHECKING:
    from tests.authoring.desk import Desk

pytestmark = pytest.mark.crash
BOUNDARIES = ("run.started", "stage.judged", "draft.written", "approval.asked")
WITHIN = ("attempt.begun", "attempt.ended")
STORES = BOTH if LONG else BOTH[:1]


@pytest.mark.parametrize("where", STORES, indirect=True)
@pytest.mark.parametrize("kinds", [BOUNDARIES, WITHIN] if LONG else [BOUNDARIES])
def test_killed_at_every_boundary_it_goes_on_and_asks_nobody_twice(
    desk: Desk, kinds: tuple[str, ...]
) -> None:
    desk.lands("plans/greet.md")
    run = desk.author(*STAGED, mode="staged", refine_iterations=1)
    desk.start()
    seen = 0

    def happened() -> int:
        return sum(kind in kinds for kind in desk.kinds())

    def is_time(after: int) -> bool:
        return happened() > after or "run.parked" in desk.kinds()

    while "run.parked" not in desk.kinds():
        # Killed at each further event of these kinds, wherever the worker is by then.
        desk.until(partial(is_time, seen))
        seen = happened()
        desk.kill()
        desk.start()
    desk.kill()
    desk.answers("yes")
    desk.start()
    desk.until(lambda: "plan.filed" in desk.kinds())
    desk.kill()
    desk.start()
    assert desk.over(run)[0] == "done"
    stages = Counter(dict.fromkeys(("understand", "explore", "alternatives", "draft"), 1))
    stages += Counter(("critique-1", "revise-1"))
    assert Counter(one.phase for one in desk.events(AttemptBegun)) == stages
    assert Counter(one.phase for one in desk.events(StageJudged)) == stages
    counted = [desk.kinds().count(kind) for kind in ("draft.written", "approval.asked", "plan.filed")]
    assert counted == [1, 1, 1]
    for stage in stages:
        assert len((desk.attempt(run, f"{stage}.1") / "starts").read_text().splitlines()) == 1


@one_store
def test_killed_between_questions_it_asks_none_of_them_twice(desk: Desk) -> None:
    run = desk.author(turn("draft", say(QUESTIONS), attempt=1), turn("draft", say(PLAN)))
    desk.start_killed("approval.asked")
    assert [one.gist for one in desk.waits(run)] == ["Which greeting?", "What without a name?"]
    desk.kill()
    desk.answers("yes", "a")
    desk.start()
    desk.waits(run)
    desk.kill()
    desk.answers("yes", "b")
    desk.start()
    desk.until(lambda: "draft.written" in desk.kinds())
    desk.waits(run)
    assert Counter(one.about for one in desk.events(ApprovalAsked)) == {"question": 2, "plan": 1}


@one_store
@pytest.mark.parametrize("victim", ["host", "agent"])
def test_killed_in_the_middle_of_a_turn_the_stage_is_done_by_another_start_or_attempt(
    desk: Desk, victim: str
) -> None:
    run = desk.author(turn("draft", say("I look around"), "{ hang = true }"))
    desk.start()
    desk.kill_of_attempt(run, "draft.1", victim, script=turn("draft", say(PLAN)))
    (asked,) = desk.waits(run)
    assert asked.kind == "plan"
    assert [one.outcome for one in desk.events(StageJudged)] == ["accepted"]
