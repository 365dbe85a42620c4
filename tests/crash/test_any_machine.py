from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import asbuilt
from asbuilt.errors import GateStopped
from asbuilt.events.attempts import AttemptBegun, VerifierBegun
from asbuilt.events.landings import LandingDone, LandingRefused
from asbuilt.events.runs import RunTakenOver
from asbuilt.flows.fleet.membership import leave
from asbuilt.flows.registration import enrol
from asbuilt.git.repository import open_repository
from asbuilt.journal import runs
from asbuilt.journal.engine import fleet
from asbuilt.journal.ids import LOCAL
from tests.crash.machines import Machines
from tests.crash.test_fleet import HANGS
from tests.journal.conftest import postgres, where
from tests.journeys.shop import ALL, LONG, SCRIPT

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    assert (spent.usd, spent.usd_unreported) == (2 * COST, sum(begun.values()) - 2)


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


def test_an_older_worker_leaves_a_newer_run_alone_and_does_not_take_it_over_either(
    machines: Machines, tmp_path: Path
) -> None:
    newer = tmp_path / "newer"
    shutil.copytree(Path(asbuilt.__file__).parent, newer / "asbuilt")
    known = newer / "asbuilt" / "journal" / "runs.py"
    text, line = known.read_text("utf-8"), f"KNOWN_NEEDS: Final = {runs.KNOWN_NEEDS}\n"
    assert line in text
    known.write_text(text.replace(line, f"KNOWN_NEEDS: Final = {runs.KNOWN_NEEDS + 1}\n"), "utf-8")
    machines.script.write_text(HANGS, encoding="utf-8")
    run = machines.ask(mode="phase")
    with machines.store.write() as session:
        session.run("UPDATE runs SET needs = :needs", needs=runs.KNOWN_NEEDS + 1)
    machines.join("bob")
    machines.rest("bob")
    assert (machines.run(run).state, machines.worked()) == ("requested", set())
    machines.join("eve", PYTHONPATH=str(newer))
    machines.until(lambda: "attempt.begun" in machines.kinds())
    machines.strike("eve")
    machines.script.write_text(SCRIPT, encoding="utf-8")
    machines.rest("bob", seconds=15)
    assert machines.events(RunTakenOver) == []
    machines.join("zoe", PYTHONPATH=str(newer))
    assert machines.over(run) == ("landed", "")
    assert machines.worked() == {"zoe"}


def test_a_worker_that_has_left_finishes_its_run_and_takes_no_other(machines: Machines) -> None:
    machines.turn('phase = "1"\nrole = "implement"', '{ say = "here" }', "{ sleep = 8 }", GREETS)
    run = machines.ask(mode="phase")
    machines.join("bob")
    machines.until(lambda: "attempt.begun" in machines.kinds())
    leave(machines.homes["bob"])
    machines.until(lambda: not machines.members())
    assert machines.over(run) == ("landed", "")
    assert (machines.worked(), machines.starts()["1.1"]) == ({"bob"}, 1)
    machines.commit_pulled()
    again = machines.ask(mode="phase")
    machines.rest("bob")
    assert machines.run(again).state == "requested"
    machines.join("eve")
    assert machines.over(again) == ("landed", "")
    assert machines.worked() == {"bob", "eve"}


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
        "asbuilt run plan --pr",
    )
    machines.until(lambda: machines.run(run).is_over)
    assert machines.landed() == ["start"]
