"""An authoring that a conversation does, on every store: whose turn it is, and what a kill leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.authoring import StageJudged
from asbuilt.flows.authoring.conversation import Conversing
from asbuilt.git.repository import open_repository
from asbuilt.journal.blobs import Blobs
from asbuilt.lifecycle.authoring.turns import Persons, Theirs, Yours
from tests.authoring.desk import PLAN, say, turn
from tests.authoring.outputs import EXPLORED, FINAL, UNDERSTOOD, WEIGHED, critique
from tests.journeys.shop import REPO

if TYPE_CHECKING:
    from tests.authoring.desk import Desk

pytestmark = pytest.mark.crash


def test_each_has_its_turn_and_nothing_that_was_handed_in_is_lost_or_judged_twice(desk: Desk) -> None:
    desk.lands("plans/greet.md")
    critic = turn("critique-1", say(critique()))
    run = desk.author(critic, mode="staged", refine_iterations=1, in_conversation=True)
    repository, blobs = open_repository(desk.checkout), Blobs(desk.home / "blobs")
    talk = Conversing(desk.store, blobs, repository, repo=REPO, run=run)
    desk.start()
    desk.until(lambda: talk.turn == Yours("understand", 1))

    assert talk.hand_in(Yours("understand", 1), "I know.") == Yours("understand", 2)
    assert talk.hand_in(Yours("understand", 2), UNDERSTOOD) == Yours("explore", 1)
    assert talk.hand_in(Yours("understand", 2), "Said again.") == Yours("explore", 1)

    # A hook that is killed here has kept the output and not judged it: the worker does.
    assert talk._write_down(Yours("explore", 1), EXPLORED)  # noqa: SLF001 - a kill comes in between
    assert talk.hand_in(Yours("explore", 1), "Something else.") != Yours("explore", 1)
    desk.until(lambda: talk.turn == Yours("alternatives", 1))

    assert talk.hand_in(Yours("alternatives", 1), WEIGHED) == Yours("draft", 1)
    assert talk.hand_in(Yours("draft", 1), PLAN) == Theirs("critique-1")
    desk.until(lambda: talk.turn == Yours("revise-1", 1))
    assert talk.hand_in(Yours("revise-1", 1), FINAL) == Theirs("the draft")
    (asked,) = desk.waits(run)
    assert talk.turn == Persons(f"approval {asked.name}", asked.name)
    desk.answers("yes")
    desk.until(lambda: desk.run(run).is_over)
    assert desk.run(run).state == "done"

    judged = [(one.phase, one.number, one.outcome) for one in desk.events(StageJudged)]
    stages = (("explore", 1), ("alternatives", 1), ("draft", 1), ("critique-1", 1), ("revise-1", 1))
    accepted = [("understand", 2, "accepted"), *((*one, "accepted") for one in stages)]
    assert judged == [("understand", 1, "refused"), *accepted]
    # Only the critic was an agent of the worker's.
    folders = (desk.home / "runs" / run / "attempts").iterdir()
    assert [one.name for one in folders] == [f"{run}.critique-1.1"]
    assert "say hello to the world" in desk.filed
