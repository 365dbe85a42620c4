"""How each agent is started: what it is told, what of the user's it may write to, and what it keeps."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from asbuilt.agents.acp.adapter import last_status
from asbuilt.agents.acp.programs import started
from asbuilt.events.options import AgentProgram
from asbuilt.policy.agent_kinds import KINDS
from tests.agents.conftest import Machine
from tests.contracts.adapter import seated

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.agents.acp.programs import Start
    from asbuilt.policy.sandbox.rules import Level

ACP = [kind.name for kind in KINDS.values() if kind.through == "ACP"]
VERIFIER: dict[str, Any] = {"role": "verify", "writable": False}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(root=tmp_path / "m", level="bwrap")


def start_of(machine: Machine, kind: str, *, level: Level = "bwrap", **changes: object) -> Start:
    program = AgentProgram(kind=kind, command=("/bin/agent",), model="m1", effort="high", budget_usd=2.5)
    brief = replace(machine.playing("", program=program), **changes)
    seat = seated(machine, brief)
    seat.level = level
    return started(brief, seat)


def settings(start: Start) -> dict[str, str]:
    return dict(word.split("=", 1) for word in start.argv if "=" in word)


def test_codex_asks_about_everything_and_its_own_sandbox_follows_the_ring(machine: Machine) -> None:
    held = start_of(machine, "codex")
    assert held.argv[0] == "/bin/agent"
    assert settings(held) == {
        "approval_policy": '"untrusted"',
        "sandbox_mode": '"danger-full-access"',
        "check_for_update_on_startup": "false",
        "model": '"m1"',
        "model_reasoning_effort": '"high"',
    }
    assert settings(start_of(machine, "codex", level="none"))["sandbox_mode"] == '"workspace-write"'
    assert settings(start_of(machine, "codex", **VERIFIER))["sandbox_mode"] == '"read-only"'


def test_gemini_asks_about_everything_by_rules_of_ours_that_it_cannot_change(machine: Machine) -> None:
    start = start_of(machine, "gemini")
    at = start.argv.index("--admin-policy")
    rules = next(file for file in start.needs.sealed if str(file) == start.argv[at + 1])
    assert 'toolName = "*"\ndecision = "ask_user"' in rules.read_text()
    assert start.argv[-4:] == ("--extensions", "none", "--model", "m1")
    assert (start.mode, start_of(machine, "gemini", **VERIFIER).mode) == (None, "plan")


def test_opencode_asks_about_everything_and_is_shown_the_users_file_alone(machine: Machine) -> None:
    file = machine.home / ".config" / "opencode" / "opencode.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    start = start_of(machine, "opencode")
    assert json.loads(start.environment["OPENCODE_PERMISSION"])["*"] == "ask"
    assert json.loads(start.environment["OPENCODE_CONFIG_CONTENT"])["snapshot"] is False
    assert start.environment["OPENCODE_CONFIG"] == str(file)
    assert start.environment["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"


def test_claude_has_no_settings_but_ours_and_a_verifier_no_tools_that_write(machine: Machine) -> None:
    def options(start: Start) -> dict[str, Any]:
        told: dict[str, Any] = start.meta["claudeCode"]["options"]
        return told

    writer, verifier = (options(start_of(machine, "claude-acp", **more)) for more in ({}, VERIFIER))
    assert (writer["settingSources"], writer["strictMcpConfig"]) == ([], True)
    assert (writer["model"], writer["effort"], writer["maxBudgetUsd"]) == ("m1", "high", 2.5)
    assert "disallowedTools" not in writer
    assert verifier["disallowedTools"] == ["Write", "Edit", "NotebookEdit"]


@pytest.mark.parametrize("kind", ["codex", "gemini", "opencode"])
def test_only_its_own_folder_of_the_users_is_writable_and_what_acts_later_is_sealed(
    machine: Machine, kind: str
) -> None:
    known = KINDS[kind]
    state = machine.home / known.state[0]
    state.mkdir(parents=True)
    start = start_of(machine, kind)
    assert (start.state, start.needs.own) == (state, (state,))
    assert {state / name for name in known.sealed} <= set(start.needs.sealed)
    moved = {"codex": "CODEX_HOME", "gemini": "GEMINI_CLI_HOME", "opencode": "XDG_DATA_HOME"}[kind]
    assert str(state).startswith(start.environment[moved])


@pytest.mark.parametrize("kind", ACP)
def test_a_user_who_never_started_it_has_nothing_made_for_them(machine: Machine, kind: str) -> None:
    before = sorted(machine.home.rglob("*"))
    start_of(machine, kind)
    assert sorted(machine.home.rglob("*")) == before


def test_the_status_with_which_opencodes_model_failed_is_looked_up(tmp_path: Path) -> None:
    assert last_status(tmp_path, "s1") is None
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as database:
        database.execute("CREATE TABLE message (id text, session_id text, time_created integer, data text)")
        rows = [
            ("m1", "s1", 1, '{"error": {"data": {"statusCode": 500}}}'),
            ("m2", "s1", 2, '{"error": {"data": {"statusCode": 401}}}'),
            ("m3", "s2", 3, '{"role": "assistant"}'),
            ("m4", "s3", 3, "no json"),
        ]
        database.executemany("INSERT INTO message VALUES (?, ?, ?, ?)", rows)
        database.commit()
    assert [last_status(tmp_path, session) for session in ("s1", "s2", "s3", "s4")] == [401, None, None, None]
    (tmp_path / "opencode.db").write_bytes(b"no database" * 99)
    assert last_status(tmp_path, "s1") is None
