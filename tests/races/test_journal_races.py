from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.events.approvals import ApprovalAnswered
from asbuilt.journal import approvals, claims, runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.drafts import drafts_of
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL
from tests.journal.conftest import open_store
from tests.races.arena import ROUNDS, again, held, race
from tests.races.games import NAMES, REPO, plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.journal.database.store import Store

pytestmark = pytest.mark.crash


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    opened = open_store(where)
    opened.migrate(STEPS)
    yield opened
    opened.close()


def _store(where: str) -> str:
    return "postgres" if where.startswith("postgresql:") else "sqlite"


def test_of_two_that_ask_for_one_plan_one_runs_it_and_the_other_is_told_who_does(
    store: Store, where: str, tmp_path: Path
) -> None:
    for one in race("claim", str(tmp_path), where):
        winner, loser = sorted(one.said, key=lambda said: not said["won"])
        host = f"host-{one.said.index(winner)}"
        assert (winner["won"], loser) == (
            True,
            {"won": False, "holder": winner["run"], "run": winner["run"], "host": host},
        ), again()
        with store.read() as session:
            owner = claims.find(session, plan_of(one.number))
            known = [run.run for run in runs.of_plan(session, plan_of(one.number))]
        assert (owner and owner.run, known) == (winner["run"], [winner["run"]]), again()
    held("one claim", _store(where), ROUNDS)


def test_of_two_answers_one_counts_and_the_other_is_told_it(store: Store, where: str, tmp_path: Path) -> None:
    for one in race("answer", str(tmp_path), where):
        (won,) = [who for who in (0, 1) if one.said[who]["won"]]
        stands = {"answer": ("yes", "no")[won], "by": NAMES[won]}
        assert one.said[won] == {"won": True, **stands}, again()
        assert one.said[1 - won] == {"won": False, **stands}, again()
        with store.read() as session:
            told = [said.event for said in history(session, plan_of(one.number))[1:]]
        answers = [event.answer if isinstance(event, ApprovalAnswered) else event for event in told]
        assert answers == [stands["answer"]], again()
    held("one answer", _store(where), ROUNDS)


def test_of_two_answers_to_one_draft_one_counts_and_only_a_yes_that_counts_approves(
    store: Store, where: str, tmp_path: Path
) -> None:
    for one in race("approve", str(tmp_path), where):
        (won,) = [who for who in (0, 1) if one.said[who]["won"]]
        stands = {"answer": ("yes", "no")[won], "by": NAMES[won]}
        assert one.said[1 - won] == {"won": False, **stands}, again()
        with store.read() as session:
            known = drafts_of(session, plan_of(one.number))
        assert [said.answer for said in known.questions] == [stands["answer"]], again()
        assert [yes.by for yes in known.approved] == [NAMES[0]][won:], again()
    held("one answer to a draft", _store(where), ROUNDS)


def test_of_a_yes_and_an_edit_at_one_instant_one_counts_and_no_yes_covers_what_nobody_saw(
    store: Store, where: str, tmp_path: Path
) -> None:
    for one in race("revise", str(tmp_path), where):
        yes, edit = one.said
        with store.read() as session:
            known = drafts_of(session, plan_of(one.number))
        intents = [revision.intent for revision in known.revisions]
        told = ([said.answer for said in known.questions], [said.intent for said in known.approved])
        if yes["won"]:
            assert edit == {"won": False, "answer": "yes", "by": NAMES[0], "first": True}, again()
            assert (len(intents), told) == (1, (["yes"], intents)), again()
        else:
            assert yes == {"won": False, "answer": "revised", "by": NAMES[1], "first": True}, again()
            assert edit == {"won": True, "answer": None, "by": None, "first": False}, again()
            assert (len(intents), told) == (2, (["revised", None], [])), again()
    held("a yes and an edit", _store(where), ROUNDS)


def test_questions_of_two_plans_at_one_instant_have_a_number_each(
    store: Store, where: str, tmp_path: Path
) -> None:
    rounds = race("ask", str(tmp_path), where)
    numbers = [said.get("number", said) for one in rounds for said in one.said]
    assert sorted(numbers, key=str) == sorted(range(1, 2 * len(rounds) + 1), key=str), again()
    with store.read() as session:
        assert len(approvals.waiting(session, LOCAL, REPO, limit=10_000)) == 2 * len(rounds)
    held("one number", _store(where), ROUNDS)


def test_a_person_and_a_run_that_write_at_one_instant_wait_for_each_other(
    store: Store, where: str, tmp_path: Path
) -> None:
    for one in race("stop", str(tmp_path), where):
        person, run = one.said
        assert run == {"ended": True, "answered": True}, again()
        assert person.keys() == {"stopped", "resumed"}, again()
        with store.read() as session:
            kinds = [said.kind for said in history(session, plan_of(one.number))]
            found = runs.find(session, LOCAL, REPO, f"r{one.number}")
        assert kinds.count("run.ended") == 1
        assert kinds.count("run.stop_asked") == person["stopped"], again()
        assert found is not None
        assert found.state == "failed"
    held("a person and a run", _store(where), ROUNDS)
