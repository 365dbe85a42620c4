"""A plan that its reviewers have as a pull request, and nobody types: the worker hears what they say."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.approvals import ApprovalAnswered
from asbuilt.journal import approvals, reviews
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.engine.liveness import holder
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL, Address
from tests.authoring.desk import say, turn
from tests.authoring.outputs import HEY, PROMISE
from tests.journeys.test_commands import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.forge.hub import Hub
    from tests.journeys.test_commands import Office

pytestmark = pytest.mark.crash
BETTER = HEY.replace("it prints all the same", "it prints all the same, once")


class Review:
    """A plan that is authored and put to reviewers, as the journal and the forge have it."""

    def __init__(self, office: Office, hub: Hub) -> None:
        self.office, self.hub = office, hub
        office.environ["ASBUILT_LANDING_CI_POLL_S"] = "1"
        office.script.write_text(
            turn("draft", say(HEY)) + turn("revise-1", say(BETTER + PROMISE)), encoding="utf-8"
        )
        typed = ("author", "call out", "--name", "hey", "--pr", "--script", str(office.script))
        assert "a1 waits for a review" in office.asbuilt(*typed)
        self.store = SqliteStore(office.state / "journal.db")
        with self.store.read() as session:
            self.repo = session.rows("SELECT repo FROM heads")[0]["repo"]
        self.plan = Address(LOCAL, self.repo, "plans/hey.md")

    def row(self) -> reviews.Review | None:
        with self.store.read() as session:
            return reviews.find(session, self.plan)

    def looks(self) -> int:
        found = self.row()
        return found.looks if found else 0

    def answers(self) -> list[tuple[str, str | None, str | None]]:
        """Every question about the plan: its name, answer and who gave it."""
        with self.store.read() as session:
            found = (approvals.named(session, LOCAL, self.repo, number) for number in (1, 2, 3))
            return [(one.name, one.answer, one.answered_by) for one in found if one is not None]

    def answered(self) -> list[ApprovalAnswered]:
        with self.store.read() as session:
            told = [one.event for one in history(session, self.plan)]
        return [event for event in told if isinstance(event, ApprovalAnswered)]

    @property
    def is_filed(self) -> bool:
        return (self.office.shop / "plans" / "hey.md").exists()


@pytest.fixture
def review(at_the_forge: tuple[Office, Hub]) -> Iterator[Review]:
    opened = Review(*at_the_forge)
    yield opened
    opened.store.close()


def test_reviewers_send_a_plan_back_and_bind_it_while_nobody_types(review: Review) -> None:
    hub = review.hub
    hub.review(1, "APPROVED", by="eve")
    until(lambda: review.looks() >= 2)
    assert review.answers() == [("a1", None, None)]
    looked = "In review: http://github.localhost/ada/shop/pull/1, polled [AGE] ago."
    for typed in (("status", "hey"), ("approve", "show", "a1")):
        assert looked in " ".join(review.office.asbuilt(*typed).split())

    hub.review(1, "CHANGES_REQUESTED", by="eve", body="Drop the tests.", at_lines={20: "delete this"})
    hub.remark(1, "plans/hey.md", 3, "a word of another review", by="lead")
    with hub.lock:
        sent = hub.review(
            1, "CHANGES_REQUESTED", by="lead", body="One more thing.", at_lines={21: "how often?"}
        )
        hub.remark(1, "plans/hey.md", 21, "and mail it to eve", by="eve", review=sent)
    until(lambda: (found := review.row()) is not None and found.question == 2)
    hub.look()
    assert "once" in hub.show(hub.pulls[1].head, "plans/hey.md")
    said = review.answered()[0]
    assert (said.number, said.note) == (
        1,
        "github:lead: One more thing.\ngithub:lead, line 21: how often?",
    )

    hub.review(1, "APPROVED", by="lead")
    until(lambda: review.is_filed)
    assert review.answers() == [("a1", "no", "github:lead"), ("a2", "yes", "github:lead")]
    until(lambda: review.row() is None)
    assert len(hub.pulls) == 1


def test_a_worker_that_is_killed_in_the_middle_of_a_look_loses_nothing(review: Review) -> None:
    office, hub = review.office, review.hub
    with hub.lock:
        # The forge answers nobody for now: whoever asks it is in the middle of a look.
        hub.review(1, "APPROVED", by="lead")
        before = hub.begun
        until(lambda: hub.begun > before)
        pid = holder(office.state / "worker.lock")
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until(lambda: holder(office.state / "worker.lock") is None)
        assert review.answers() == [("a1", None, None)]
    assert office.asbuilt("worker").startswith("exit 0")
    until(lambda: review.is_filed)
    assert [(one.number, one.answer) for one in review.answered()] == [(1, "yes")]
