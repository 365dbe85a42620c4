"""What an agent may do is frozen when its attempt starts, and held by the kernel as well."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.agents.attempt_folder import Folder
from asbuilt.agents.claude.adapter import call_of
from asbuilt.agents.contract import Answer, Call
from asbuilt.agents.host.permission_answers import answered, snapshot_of
from asbuilt.policy.roles import ROLES, compiled
from tests.agents.conftest import Machine
from tests.contracts.attempts import ended, started, started_with
from tests.live.forbidden import FORBIDDEN

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.policy.roles import Role
    from asbuilt.policy.sandbox.rules import Level

SETTINGS = '{ write = ".claude/settings.json", text = "{}" }, { write = "made.txt", text = "" }'


def test_an_attempt_is_answered_from_what_was_frozen_when_it_started(machine: Machine) -> None:
    brief = machine.playing('[[turn]]\nacts = [{ ask = "edit", path = "made.txt" }]\n')
    folder = Folder(machine.attempts.folder(brief.attempt))
    folder.path.mkdir(parents=True)
    terms = machine.attempts.terms()
    frozen = replace(snapshot_of(brief, terms, folder.path), edits=False)
    folder.write_brief(brief, replace(terms, policy=frozen))
    started_with(machine, brief)
    ended(machine, brief)
    asked = [event for event in machine.attempts.events(brief.attempt)[0] if event["kind"] == "asked"]
    assert [event["allowed"] for event in asked] == [False]


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("role", ROLES)
def test_no_role_may_make_one_of_the_forbidden_calls(role: Role, *, held: bool) -> None:
    places = {name: f"/{name}" for name in ("outside", "workspace", "shop", "home")} | {"port": "1"}
    snapshot = compiled(role, workspace="/workspace", protected=("/workspace/plans/login.md",), held=held)
    texts = {row: row.text.format(**places) for row in FORBIDDEN}
    calls = {row: call_of(row.tool, {"file_path": text, "command": text}) for row, text in texts.items()}
    assert [row.text for row, call in calls.items() if answered(snapshot, call).allowed] == []


@pytest.mark.parametrize(
    ("path", "is_allowed"),
    [
        ("/run/asbuilt/checkout/src/a.py", True),
        ("/run/asbuilt/checkout/plans/login.md", False),
        ("/run/asbuilt/checkout/../home/venv/bin/python", False),
        ("/run/asbuilt/checkouts/a.py", False),
    ],
)
def test_the_path_that_checks_have_for_a_workspace_is_judged_as_the_workspace(
    path: str, *, is_allowed: bool
) -> None:
    snapshot = compiled("implement", workspace="/workspace", protected=("/workspace/plans/login.md",))
    assert answered(snapshot, Call(tool="edit", kind="edit", path=path)).allowed == is_allowed


def test_every_start_freezes_the_role_with_real_paths(machine: Machine) -> None:
    brief = started(machine, "works", role="verify", writable=False)
    ended(machine, brief)
    folder = Folder(machine.attempts.folder(brief.attempt))
    policy = folder.brief()[1].policy
    assert policy is not None
    assert policy == snapshot_of(brief, machine.attempts.terms(), folder.path)
    assert (policy.role, policy.edits, policy.submits) == ("verify", False, True)


def test_a_link_out_of_the_workspace_and_a_name_that_cannot_be_are_refused(machine: Machine) -> None:
    brief = machine.brief("works")
    snapshot = snapshot_of(brief, machine.attempts.terms(), machine.attempts.folder(brief.attempt))
    (machine.workspace / "out").symlink_to(machine.home)
    assert not answered(snapshot, Call(tool="t", kind="edit", path="out/x")).allowed
    unreadable = answered(snapshot, Call(tool="t", kind="edit", path="a\0b"))
    assert unreadable == Answer(allowed=False, reason="Its path cannot be read.")
    secret = answered(snapshot, Call(tool="t", kind="read", path=str(machine.home / ".ssh" / "id")))
    assert not secret.allowed


def test_nobody_is_dispatched_into_a_ring_that_this_machine_does_not_have(tmp_path: Path) -> None:
    elsewhere: Level = "bwrap" if sys.platform == "darwin" else "seatbelt"
    machine = Machine(root=tmp_path / "m", level=elsewhere)
    result = ended(machine, started(machine, "works"))
    assert (result.ending, result.cause, result.ring) == ("failed", "unheld", elsewhere)
    assert result.reason.startswith(f"Nothing runs in the sandbox {elsewhere}: ")
    assert not (machine.workspace / "made.txt").exists()


def test_the_ring_holds_settings_that_are_not_there_yet_and_leaves_no_folder(
    machine: Machine, level: Level
) -> None:
    brief = started_with(machine, machine.playing(f"[[turn]]\nacts = [{SETTINGS}]\n"))
    ended(machine, brief)
    if level == "none":
        pytest.skip("without a ring only the gate holds")
    assert not (machine.workspace / ".claude").exists()
