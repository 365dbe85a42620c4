"""A run of an approved plan works on what was approved, and what lands says who has approved it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import NameTaken
from asbuilt.events.plans import PlanFiled
from asbuilt.events.runs import RunEnded
from asbuilt.flows.requests import Asker, answer
from asbuilt.flows.run.approval import file_approved
from asbuilt.flows.run.record import Record
from asbuilt.journal import drafts, runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import open_plan
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.approval import AGENT
from asbuilt.plan.reader import read
from tests.journeys.shop import PLAN, REPO, one_store
from tests.journeys.test_drift import criterion_of, states

if TYPE_CHECKING:
    from asbuilt.lifecycle.approval import Drafts
    from tests.journeys.shop import Shop

pytestmark = [pytest.mark.crash, one_store]
ANOTHER = PLAN.replace("`both.py` does both", "`both.py` does both at once")
TRAILERS = "--format=%(trailers:key=Asbuilt-Approved-By)"


def known(shop: Shop) -> Drafts:
    with shop.store.read() as session:
        return drafts.drafts_of(session, shop.address)


def approve(shop: Shop, number: int = 1, by: str = "ada") -> None:
    """Say yes to a question, from wherever the store is reached."""
    asker = Asker(by, "another-host", {})
    assert answer(shop.store, LOCAL, REPO, number, reply="yes", note=None, asker=asker)[0]


def approved(shop: Shop) -> None:
    """Let the plan as it stands be one that an authoring wrote and Ada approved."""
    data = (shop.checkout / "plan.md").read_bytes()
    blob = Blobs(shop.home / "blobs").put(data)
    with shop.store.write() as session:
        open_plan(session, shop.address, "plan")
        written = drafts.write(session, shop.address, read(data), run="author", by=AGENT, text=blob)
        drafts.ask(session, shop.address, written, title="Greetings", actor="asbuilt")
    approve(shop)


def test_what_lands_says_who_approved_the_plan(shop: Shop) -> None:
    approved(shop)
    shop.lands("greet.py", "plan.md")
    run = shop.request()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert shop.git("log", "-1", TRAILERS, "main~1") == "Asbuilt-Approved-By: ada"


def test_an_edit_that_nobody_approved_ends_the_run_before_the_phase_and_a_yes_lets_it_go_on(
    shop: Shop,
) -> None:
    approved(shop)
    shop.write("plan.md", ANOTHER)
    run = shop.request()
    shop.start()
    state, reason = shop.over(run)
    assert (state, reason.partition(";")[0]) == ("failed", "plan is not the plan that ada approved")
    assert shop.events(RunEnded)[-1].code == 4
    assert "attempt.begun" not in shop.kinds()
    assert [(one.name, one.answer) for one in known(shop).questions] == [("a1", "yes"), ("a2", None)]
    approve(shop, 2, by="bob")
    shop.lands("greet.py", "plan.md")
    run = shop.request()
    assert shop.over(run)[0] == "landed"
    assert shop.git("log", "-1", TRAILERS, "main") == "Asbuilt-Approved-By: bob"


def test_a_number_put_right_at_landing_keeps_the_plan_approved(shop: Shop) -> None:
    states(shop, "about 10", 11)
    approved(shop)
    shop.lands("greet.py", "plan.md")
    run = shop.request()
    shop.start()
    assert shop.over(run) == ("landed", "")
    assert criterion_of(shop).endswith(": was 10, measured 11 -->")
    before, after = known(shop).approved
    now = read((shop.checkout / "plan.md").read_bytes())
    assert (after.intent, after.by) == (now.intent, "ada")
    assert before.intent != after.intent
    shop.lands("part.py", "plan.md")
    assert shop.over(shop.request()) == ("landed", "")


def test_an_approved_text_is_filed_once_and_never_over_another_file(shop: Shop) -> None:
    approved(shop)
    run = shop.request()
    with shop.store.read() as session:
        made = runs.find(session, LOCAL, REPO, run)
    assert made is not None
    record = Record(run=made, store=shop.store, blobs=Blobs(shop.home / "blobs"))
    (yes,) = known(shop).approved
    (shop.checkout / "plan.md").unlink()
    for _ in range(2):
        file_approved(record, yes)
        assert (shop.checkout / "plan.md").read_text(encoding="utf-8") == PLAN
    assert shop.of_runs(PlanFiled) == [(run, PlanFiled(path="plan.md", digest=yes.digest))]
    shop.write("plan.md", ANOTHER)
    with pytest.raises(NameTaken):
        file_approved(record, yes)
    assert (shop.checkout / "plan.md").read_text(encoding="utf-8") == ANOTHER
