"""Nobody is dispatched where what has to be refused is not: each canary is seen to sing, and to be silent."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.agents.attempt_folder import Folder
from asbuilt.agents.host.permission_answers import (
    KNOWN_BAD,
    Unheld,
    answered,
    let_through,
    snapshot_of,
    try_sandbox,
)
from asbuilt.agents.sandbox.launch import probe, settle
from asbuilt.policy.roles import Snapshot
from asbuilt.policy.sandbox.rules import for_agent
from tests.agents.conftest import Machine
from tests.contracts.attempts import ended

if TYPE_CHECKING:
    from asbuilt.policy.roles import Role
    from asbuilt.policy.sandbox.rules import Request

_EVERYWHERE = Snapshot(role="implement", workspace="", runs="plain", edits=True)


@pytest.mark.parametrize("role", ["implement", "fix", "verify"])
def test_every_role_is_refused_what_no_agent_may_do(machine: Machine, role: Role) -> None:
    brief = machine.brief("works", role=role, writable=role != "verify")
    snapshot = snapshot_of(brief, machine.attempts.terms(), machine.root)
    assert [answered(snapshot, call).allowed for call in KNOWN_BAD] == [False] * len(KNOWN_BAD)
    assert let_through(snapshot) is None


def test_a_gate_that_lets_through_what_it_must_refuse_is_told_by_the_call() -> None:
    told = "The gate allows /etc/asbuilt-canary, which no agent may do. Nothing was dispatched."
    assert let_through(_EVERYWHERE) == told


def test_behind_a_gate_with_a_hole_no_agent_is_started(machine: Machine) -> None:
    brief = machine.brief("works")
    folder = Folder(machine.attempts.folder(brief.attempt))
    folder.path.mkdir(parents=True)
    folder.write_brief(brief, replace(machine.attempts.terms(), policy=_EVERYWHERE))
    machine.attempts.start(brief)
    result = ended(machine, brief)
    assert (result.ending, result.cause, result.tool_calls) == ("failed", "unheld", 0)
    assert not (machine.workspace / "made.txt").exists()


def _request(machine: Machine, *, writable: tuple[Path, ...] = ()) -> Request:
    for name in ("out", "home", "tmp"):
        (machine.root / "agent" / name).mkdir(parents=True, exist_ok=True)
    asked = for_agent(
        workspace=str(machine.workspace),
        writable=True,
        out=str(machine.root / "agent" / "out"),
        home=str(machine.root / "agent" / "home"),
        tmp=str(machine.root / "agent" / "tmp"),
        own=tuple(map(str, writable)),
        sealed=(),
        environment={},
    )
    return settle(asked, homes=(machine.home,), hidden=())


def test_a_ring_with_a_hole_is_noticed_and_one_that_holds_is_not(tmp_path: Path) -> None:
    level = probe().for_work
    assert level != "none", "no ring holds here; `asbuilt doctor` says what helps"
    machine = Machine(root=tmp_path / "m", level=level)
    # The last is read-only there; what is below /tmp is another folder.
    targets = (machine.workspace.parent, machine.home, Path(sys.prefix))
    asyncio.run(try_sandbox(level, _request(machine), targets))
    with pytest.raises(Unheld, match=f"The sandbox {level} let a write to {machine.home} through"):
        asyncio.run(try_sandbox(level, _request(machine, writable=(machine.home,)), targets))
    assert sorted(one.name for one in machine.home.iterdir()) == [".netrc", ".ssh"]


def test_a_ring_in_which_nothing_runs_is_not_believed_in(tmp_path: Path) -> None:
    machine = Machine(root=tmp_path / "m", level=probe().for_work)
    nowhere = _request(machine).changed(chdir=str(tmp_path / "nowhere"))
    with pytest.raises(Unheld, match="Nothing runs in the sandbox"):
        asyncio.run(try_sandbox(machine.level, nowhere, (machine.home,)))
