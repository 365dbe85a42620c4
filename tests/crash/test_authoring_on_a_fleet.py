"""A plan is authored on the laptop that asks, on the shared store, and then worked on by the fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.authoring.desk import say, turn
from tests.authoring.outputs import HEY
from tests.crash.laptop import Laptop
from tests.crash.machines import Machines
from tests.journal.conftest import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.crash
ROLES = """\
CREATE ROLE asbuilt_worker LOGIN;
CREATE ROLE asbuilt_person LOGIN;
GRANT CREATE ON DATABASE postgres TO asbuilt_worker;
"""
GRANTS = """\
GRANT USAGE ON SCHEMA asbuilt TO asbuilt_person;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA asbuilt TO asbuilt_person;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA asbuilt TO asbuilt_person;
"""
WORKS = """\
[[turn]]
role = "implement"
acts = [{ write = "hey.py", text = "print('HEY')\\n" }, { say = "done" }]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""


def _sql(url: str, lines: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(lines.encode())


@pytest.fixture
def owner() -> Iterator[str]:
    # Its own server: roles are those of a whole server.
    with serving() as url:
        _sql(url, ROLES)
        yield url


@pytest.fixture
def machines(tmp_path: Path, owner: str) -> Iterator[Machines]:
    made = Machines(tmp_path, owner.replace("//postgres:", "//asbuilt_worker:"))
    yield made
    made.close()


def test_a_plan_is_authored_on_the_laptop_that_asks_and_the_fleet_works_on_it(
    machines: Machines, owner: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    machines.join("bob")
    machines.until(machines.members)
    _sql(owner, GRANTS)
    ada = Laptop(tmp_path / "laptop", owner.replace("//postgres:", "//asbuilt_person:"), machines.ssh)
    request.addfinalizer(ada.close)
    ada.start = machines.checkout
    ada.environ |= {"ASBUILT_SANDBOX_REQUIRED": "false", "ASBUILT_AGENTS_IMPLEMENT": "scripted"}
    machines.script.write_text(turn("draft", say(HEY.replace("plans/greet.md", "plan.md"))), encoding="utf-8")
    wish = ("author", "call out", "--script", str(machines.script))
    code, said = ada.typed(*wish)
    grant = "GRANT asbuilt_worker TO asbuilt_person"
    assert (code, grant in " ".join(said.split())) == (4, True), said
    assert "asbuilt_person may not work on this machine" in said
    assert ada.asked("status")["plans"] == []
    _sql(owner, grant)
    code, said = ada.typed(*wish)
    assert (code, "a1" in said) == (5, True), said
    code, said = ada.typed("approve", "yes", "a1")
    assert code == 0, said
    machines.until((machines.checkout / "plans" / "call-out.md").is_file)
    for words in (("add", "plans"), ("commit", "-qm", "a plan"), ("push", "-q", "origin", "main")):
        machines.git(*words)
    machines.script.write_text(WORKS, encoding="utf-8")
    code, said = ada.typed("run", "call-out", "--finish", "--auto", "--script", str(machines.script))
    assert code == 0, said
    assert machines.landed()[-2:] == ["a plan", "start"]
    assert machines.landed()[0].startswith("Mark ")
    assert machines.worked() == {"bob"}
