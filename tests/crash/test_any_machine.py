from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import GateStopped
from asbuilt.events.attempts import AttemptBegun, VerifierBegun
from asbuilt.events.landings import LandingDone, LandingRefused
from asbuilt.events.runs import RunTakenOver
from asbuilt.flows.enroll import enrol
from asbuilt.git.repository import open_repository
from asbuilt.journal.engine import fleet
from asbuilt.journal.ids import LOCAL
from tests.crash.machines import Machines
from tests.journal.conftest import postgres, where
from tests.journeys.shop import ALL, LONG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["postgres", "where"]
pytestmark = [pytest.mark.crash, pytest.mark.parametrize("where", ["postgres"], indirect=True)]
POINTS = (
    "attempt.ended", "landing.intended", "tree.kept", "run.started", "workspace.made", "attempt.begun",
    "checks.done", "verifier.begun", "verdict.given", "phase.proven", "together.done", "landing.done",
    "plan.marked",
)  # fmt: skip

COST = 0.25
COSTS = (f"{{ usage = 100, output = 10, cost_usd = {COST} }}",)
GREETS = """{ write = "greet.py", text = "print('hello')\\n" }, { say = "done" }"""


@pytest.fixture
def machines(tmp_path: Path, where: str) -> Iterator[Machines]:
    made = Machines(tmp_path, where)
    yield made
    made.close()


def test_a_run_that_one_machine_asks_for_works_on_another_without_a_clone_and_lands_on_the_remote(
    machines: Machines,
) -> None:
    run = machines.ask()
    machines.take_away()
    machines.join("bob")
    assert machines.over(run) == ("landed", "")
    assert machines.landed() == ALL


@pytest.mark.parametrize("point", POINTS if LONG else POINTS[:2])
def test_a_machine_that_is_lost_with_its_disk_is_replaced_and_no_kept_attempt_is_repeated(
    machines: Machines, point: str
) -> None:
    machines.turn('phase = "1"\nrole = "implement"', *COSTS, GREETS)
    machines.turn('phase = "1"\nrole = "verify"', *COSTS, '{ verdict = "pass" }')
    run = machines.ask(mode="phase")
    machines.take_away()
    machines.join("bob")
    machines.until(lambda: point in machines.kinds())
    kinds = machines.kinds()
    machines.strike("bob")
    machines.join("eve")
    assert machines.over(run) == ("landed", "")
    assert machines.landed() == ["Mark plan.md", "Greet", "start"]
    (landed,) = {event.new for event in machines.events(LandingDone)}
    assert landed == machines.remote_tip()
    assert len(machines.events(RunTakenOver)) == 1
    # What was recorded when the machine was lost is not done again.
    kept = {"1.1": "attempt.ended", "1.1v": "verdict.given"}
    again = {name: 1 for name, event in kept.items() if event in kinds}
    assert {name: machines.starts().get(name, 0) for name in again} == again
    # Every start is an event, and its cost is known, or counted as unknown.
    begun = {"1.1": len(machines.events(AttemptBegun)), "1.1v": len(machines.events(VerifierBegun))}
    assert all(begun[name] >= many for name, many in machines.starts().items())
    spent = machines.spent(run)
    assert (spent.usd, spent.usd_untold) == (2 * COST, sum(begun.values()) - 2)


def test_clones_of_one_remote_are_one_repository_whatever_the_form_of_its_url(machines: Machines) -> None:
    other = machines.clone("other")
    assert enrol(machines.store, open_repository(other)) == machines.repo
    machines.ask()
    with pytest.raises(AssertionError, match="Declined"):
        machines.ask(other)


def test_a_commit_that_only_the_asker_has_is_refused_with_the_push_to_type(machines: Machines) -> None:
    machines.commit("new.txt", "new", "mine alone")
    with pytest.raises(GateStopped) as refused:
        machines.ask()
    assert "git push origin main" in refused.value.next_step


def test_a_run_waits_for_a_worker_with_its_labels_and_variables(machines: Machines) -> None:
    run = machines.ask(mode="phase", labels=("gpu",), env={"checks": ["SHOP_TOKEN"]})
    machines.join("bob", "gpu")
    machines.join("eve", "macos", secrets={"SHOP_TOKEN": "a value"})
    machines.until(lambda: len(machines.members()) == 2)
    with machines.store.read() as session:
        assert [one.place for one in fleet.waiting(session, LOCAL)] == ["fleet env:SHOP_TOKEN gpu"]
    machines.join("zoe", "gpu", secrets={"SHOP_TOKEN": "a value"})
    assert machines.over(run) == ("landed", "")
    assert machines.worked() == {"zoe"}
    assert "a value" not in machines.dumped()


def test_a_protected_branch_is_told_in_words_with_the_pull_request_as_the_next_step(
    machines: Machines,
) -> None:
    machines.protect()
    run = machines.ask(mode="phase")
    machines.join("bob")
    machines.until(lambda: "landing.refused" in machines.kinds())
    (refused,) = machines.events(LandingRefused)
    assert (refused.what, refused.next) == (
        "Not landed: the remote does not accept a push to main.",
        "Land it by a pull request: asbuilt run plan --pr",
    )
    machines.until(lambda: machines.run(run).is_over)
    assert machines.landed() == ["start"]
