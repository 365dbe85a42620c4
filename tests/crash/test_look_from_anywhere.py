"""A laptop with only the database's URL sees everything, answers, and reads the differences."""

from __future__ import annotations

import socket
import time
import urllib.request
from contextlib import suppress
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING

import pytest

from asbuilt.flows.registration import enrol
from asbuilt.git.repository import open_repository
from tests.crash.laptop import Laptop
from tests.crash.test_any_machine import machines
from tests.journal.conftest import postgres, where
from tests.journeys.shop import ALL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.machines import Machines

__all__ = ["machines", "postgres", "where"]
pytestmark = [pytest.mark.crash, pytest.mark.parametrize("where", ["postgres"], indirect=True)]


@pytest.fixture
def laptop(machines: Machines, tmp_path: Path) -> Laptop:
    return Laptop(tmp_path / "laptop", machines.where, machines.ssh)


def test_a_laptop_without_a_clone_watches_answers_and_reads_all_of_a_run(
    machines: Machines, laptop: Laptop
) -> None:
    run = machines.ask(auto=False)
    machines.take_away()
    assert [one["plan"] for one in laptop.asked("status")["plans"]] == ["plan"]
    machines.join("bob")
    machines.until(machines.members)
    # Without a terminal, it is over as soon as the run waits for an answer.
    code, watched = laptop.typed("watch", "plan")
    assert (code != 0, "plan.1" in watched) == (True, True), watched
    answered = 0
    while not machines.run(run).is_over:
        for one in laptop.asked("approve")["waiting"]:
            assert one["id"] in laptop.typed("status", "plan")[1]
            code, said = laptop.typed("approve", "yes", one["id"])
            assert code == 0, said
            answered += 1
        time.sleep(0.5)
    assert answered
    assert (machines.run(run).state, machines.landed()) == ("held", ["start"])
    assert laptop.asked("report", "plan.1")["state"] == "held"
    assert "hello" in laptop.typed("report", "plan.1", "--markdown")[1]
    (held,) = laptop.asked("approve")["to_land"]
    code, said = laptop.typed("approve", "yes", held["run"])
    assert (code, machines.landed()) == (0, ALL), said
    assert "landed" in laptop.typed("watch", "plan")[1]
    assert "landed" in laptop.typed("log", "plan")[1]
    attempts = laptop.asked("log", "plan", "--attempts")["attempts"]
    assert {one["files"] for one in attempts} == {1}
    assert "+print('hello')" in laptop.typed("log", "plan.1.1.1", "--patch")[1]
    # Nothing of it came into the folder.
    assert [*laptop.start.iterdir()] == []


def test_the_board_of_a_laptop_without_a_clone_shows_the_runs_of_the_fleet(
    machines: Machines, laptop: Laptop
) -> None:
    run = machines.ask(mode="phase")
    machines.take_away()
    machines.join("bob")
    assert machines.over(run) == ("landed", "")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    board, link = laptop.start_board(port)
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    until = time.monotonic() + 60
    page = ""
    try:
        while not page and time.monotonic() < until:
            with suppress(OSError), browser.open(link, timeout=10) as shown:
                page = shown.read().decode()
            time.sleep(0.2)
        assert "shop" in page
        assert "plan" in page
    finally:
        board.kill()
        board.communicate()


def test_a_plan_of_two_repositories_is_named_with_its_repository(machines: Machines, laptop: Laptop) -> None:
    machines.ask()
    machines.git("clone", "-q", "--bare", str(machines.checkout), str(machines.forge / "other.git"))
    other = machines.clone("other", "git@forge.test:other.git")
    machines.repo = enrol(machines.store, open_repository(other))
    machines.ask(other)
    code, said = laptop.typed("status", "plan")
    assert (code, "2 repositories have a plan plan: " in said) == (2, True), said
    for name in ("shop", "other"):
        assert f"{name}:plan" in said
        (found,) = laptop.asked("status", f"{name}:plan")["plans"]
        assert found["state"] == "requested"
    assert len(laptop.asked("status")["repositories"]) == 2


def test_a_repository_that_stays_on_its_machine_cannot_be_landed_from_another(
    machines: Machines, laptop: Laptop
) -> None:
    machines.git("remote", "remove", "origin")
    machines.repo = enrol(machines.store, open_repository(machines.checkout))
    machines.request(mode="phase")
    code, said = laptop.typed("land", "plan")
    refused = "the repository has no clone here, and its runs stay on the machine that has one"
    assert (code, refused in " ".join(said.split())) == (4, True), said
