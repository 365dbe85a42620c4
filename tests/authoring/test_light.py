from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.plan.reader import read
from tests.authoring.desk import PLAN, say, turn

if TYPE_CHECKING:
    from tests.authoring.desk import Desk

pytestmark = pytest.mark.crash


def test_a_sentence_becomes_a_plan_that_is_filed_when_a_person_says_yes(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    run = desk.author(turn("draft", say(PLAN)))
    desk.start()
    (asked,) = desk.waits(run)
    (draft,) = desk.events("draft.written")
    assert (asked.kind, asked.intent) == ("plan", draft["intent"])
    assert not (desk.checkout / desk.plan).exists()
    desk.answers("yes")
    assert desk.over(run) == (
        "done",
        "plans/greet.md is written, not committed; a run accepts only this text",
    )
    assert desk.filed.endswith(PLAN)
    assert read(desk.filed.encode()).intent == draft["intent"]
    (approved,), (filed,) = desk.events("plan.approved"), desk.events("plan.filed")
    assert (approved["intent"], approved["by"], approved["edited"]) == (draft["intent"], "you", False)
    assert (filed["path"], filed["digest"]) == ("plans/greet.md", draft["digest"])
