"""What one look at the reviews of a plan does, on each database, by the real gh against the stub."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from msgspec.structs import asdict, replace

from asbuilt.events.approvals import ReviewClosed
from asbuilt.events.options_json import read_options
from asbuilt.events.plans import PlanApproved
from asbuilt.flows import run_end as flow
from asbuilt.flows.authoring.reviews import Proposal, Reviews, await_reviews, propose, text_of
from asbuilt.flows.requests import Asker
from asbuilt.git.forge.github import GitHub, open_forge
from asbuilt.journal import approvals, drafts, repositories, reviews, runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import history
from asbuilt.journal.home import Home, open_home
from asbuilt.journal.repositories import Known
from asbuilt.journal.reviews import Terms
from asbuilt.lifecycle.approval import AGENT
from asbuilt.lifecycle.run.retry_times import moment
from asbuilt.plan.reader import read
from tests.authoring.outputs import HEY
from tests.forge.test_github import environ
from tests.journal.conftest import PLAN, postgres, store, where

if TYPE_CHECKING:
    from asbuilt.events.event import Event
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.pull_request.forge import BranchMoved, Pushed
    from tests.forge.hub import Hub
    from tests.forge.server import Stub
    from tests.git.shop import Shop

_Kind = TypeVar("_Kind", bound="Event")
__all__ = ["postgres", "store", "where"]
pytestmark = pytest.mark.crash
ON_SQLITE = pytest.mark.parametrize("where", ["sqlite"], indirect=True)
"""For what asks nothing of the database that the others do not."""
LONG_AGO = "2020-01-01T00:00:00.000Z"
TERMS = Terms(("github:lead",), "main", 30)
TEXT = text_of(PLAN.plan, HEY.encode(), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A plan whose draft is a pull request, and a worker that has nothing else to do."""

    store: Store
    home: Home
    hub: Hub
    run: Run

    def worker(self, *, machine: str | None = None) -> Reviews:
        return Reviews(self.store, Blobs(self.home.blobs), self.home, org=PLAN.org, machine=machine)

    def look(self) -> int:
        """Let its time come, and look; tells how many plans that were."""
        with self.store.write() as session:
            session.run("UPDATE reviews SET due_at = :ago", ago=LONG_AGO)
        return self.worker().look()

    @property
    def is_looked_at(self) -> bool:
        with self.store.read() as session:
            return reviews.find(session, PLAN) is not None

    def row(self) -> reviews.Review:
        with self.store.read() as session:
            found = reviews.find(session, PLAN)
        assert found is not None
        return found

    def answer(self) -> tuple[str | None, str | None]:
        with self.store.read() as session:
            asked = approvals.named(session, PLAN.org, PLAN.repo, 1)
        assert asked is not None
        return asked.answer, asked.answered_by

    def told(self, kind: type[_Kind]) -> list[_Kind]:
        with self.store.read() as session:
            told = [one.event for one in history(session, PLAN)]
        return [event for event in told if isinstance(event, kind)]

    def asked(self) -> int:
        """How often the forge was asked for reviews."""
        return sum(one.path.endswith("/reviews") for one in self.hub.requests)


@pytest.fixture
def desk(store: Store, tmp_path: Path, shop: Shop, stub: Stub) -> Desk:
    home = open_home(tmp_path / "state")
    given = environ(stub, shop, Path(sys.executable).parent)
    given |= stub.environment(tmp_path / "gh-settings")
    options = {"kind": "author", "slug": "rate-limit", "checkout": str(shop.root), "branch": "main"}
    plan, text = read(TEXT.data), Blobs(home.blobs).put(TEXT.data)
    with store.write() as session:
        run = runs.request(
            session, PLAN, run="r1", slug="rate-limit", options=read_options(options), actor="ann"
        )
        written = drafts.write(session, PLAN, plan, run=run.run, by=AGENT, text=text)
        asked = drafts.ask(session, PLAN, written, title=plan.title, actor="ann")
    proposal = propose(shop.repository, open_forge(shop.repository, given), TEXT, base="main")
    asker = Asker("ann", "here", given)
    await_reviews(store, home, run, proposal, question=asked.number, terms=TERMS, asker=asker)
    return Desk(store=store, home=home, hub=stub.hub, run=run)


def test_of_several_workers_one_looks_and_one_answer_counts(desk: Desk) -> None:
    assert desk.worker().look() == 0, "its time has not come"
    desk.hub.review(1, "APPROVED", by="lead")
    with desk.store.write() as session:
        session.run("UPDATE reviews SET due_at = :ago", ago=LONG_AGO)
    with ThreadPoolExecutor(4) as pool:
        looked = list(pool.map(lambda _: desk.worker().look(), range(4)))
    assert (sum(looked), desk.asked()) == (1, 1)
    assert desk.answer() == ("yes", "github:lead")
    assert [one.by for one in desk.told(PlanApproved)] == ["github:lead"]


@ON_SQLITE
def test_whoever_has_no_role_decides_nothing_and_the_looks_become_rarer(desk: Desk) -> None:
    desk.hub.review(1, "APPROVED", by="eve")
    waits = []
    for _ in range(3):
        assert desk.look() == 1
        found = desk.row()
        waits.append((moment(found.due_at) - moment(found.looked_at or "")).total_seconds())
    assert (waits, desk.answer()) == ([30, 60, 90], (None, None))


@ON_SQLITE
@pytest.mark.parametrize("state", ["closed", "merged"])
def test_a_pull_request_that_is_over_is_looked_at_no_more_and_the_question_waits(
    desk: Desk, state: str
) -> None:
    pull = desk.hub.pulls[1]
    pull.state, pull.merged_as = "closed", pull.head if state == "merged" else None
    desk.hub.review(1, "APPROVED", by="lead" if state == "closed" else "eve")
    assert (desk.look(), desk.is_looked_at, desk.look()) == (1, False, 0)
    why = f"pull request #1 was {state} before a reviewer decided"
    assert [one.why for one in desk.told(ReviewClosed)] == [why]
    assert desk.answer() == (None, None)


@ON_SQLITE
def test_an_authoring_that_was_stopped_is_looked_at_no_more_and_the_forge_is_not_asked(desk: Desk) -> None:
    with desk.store.write() as session:
        flow.end(session, desk.run, "stopped", "enough")
    before = desk.hub.begun
    assert (desk.look(), desk.is_looked_at, desk.hub.begun) == (1, False, before)


@ON_SQLITE
def test_a_forge_that_is_busy_is_asked_again_when_it_wants_to_be(desk: Desk) -> None:
    desk.hub.fail("GET", "/reviews", status=429, headers={"Retry-After": "1000"})
    desk.hub.fail("GET", "/reviews", status=502)
    with desk.store.read() as session:
        before = moment(session.now)
    assert desk.look() == 1
    limited = desk.row()
    assert (limited.troubles, limited.looks, limited.looked_at) == (1, 0, None)
    assert limited.failed is not None
    assert limited.failed.what.startswith("github.localhost takes no more requests for now")
    assert moment(limited.due_at) - before >= timedelta(seconds=1000)

    assert desk.look() == 1
    broken = desk.row()
    assert broken.failed is not None
    assert broken.troubles == 2
    assert broken.failed.what == "github.localhost has a server error (HTTP 502)"
    assert desk.look() == 1
    well = desk.row()
    assert (well.troubles, well.said, well.looks) == (0, None, 1)


def test_a_plan_is_looked_at_only_on_the_machine_that_has_its_repository(desk: Desk) -> None:
    with desk.store.write() as session:
        repositories.remember(session, PLAN.org, Known(PLAN.repo, "/there", "1", None, "there"))
        session.run("UPDATE reviews SET due_at = :ago", ago=LONG_AGO)
    assert [desk.worker(machine=name).look() for name in ("elsewhere", "there")] == [0, 1]


def test_two_who_propose_a_text_at_once_have_one_pull_request(tmp_path: Path, shop: Shop, stub: Stub) -> None:
    given = environ(stub, shop, Path(sys.executable).parent) | stub.environment(tmp_path / "gh-settings")
    forge = open_forge(shop.repository, given)
    others: list[Proposal] = []

    class Overtaken(GitHub, frozen=True, kw_only=True):
        """The forge, where somebody else pushes the same text in the last moment."""

        def push(self, branch: str, commit: str, *, expected: str | None) -> Pushed | BranchMoved:
            shop.git("config", "user.name", "Somebody else")
            others.append(propose(shop.repository, forge, TEXT, base="main"))
            return forge.push(branch, commit, expected=expected)

    overtaken = Overtaken(**asdict(forge))
    mine = propose(shop.repository, overtaken, TEXT, base="main")
    assert [replace(one.pull, mergeable="yes") for one in others] == [replace(mine.pull, mergeable="yes")]
    assert (mine.head, len(stub.hub.pulls)) == (others[0].head, 1)
