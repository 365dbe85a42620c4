"""The gate before every call of a tool: when it speaks, what it says, and that no failure opens it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from asbuilt.policy.plan_mode.state import Hold
from asbuilt.policy.plan_mode.tool_tables import QUIET, READS, REFUSED, STARTS, WRITES
from tests.hook.calling import SILENT, WRITE, Said, denied, rewritten

if TYPE_CHECKING:
    from tests.hook.calling import Conversation
REFUSED_WRITE = denied(
    "plan mode is read-only and Write changes /etc/motd. To propose the change, write it into the plan."
)


# When it speaks.


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions", "auto", "dontAsk"])
@pytest.mark.parametrize("tool", ["Write", "Bash", "mcp__shop__sell", "Tomorrow"])
def test_where_planning_is_not_held_it_says_nothing_and_leaves_nothing(
    talk: Conversation, mode: str, tool: str
) -> None:
    assert talk.call(tool, WRITE, mode=mode) == SILENT
    assert not talk.folder.parent.exists()


def test_a_payload_that_says_plan_begins_a_hold_which_the_next_mode_does_not_end(talk: Conversation) -> None:
    assert talk.call("Write", WRITE) == REFUSED_WRITE
    assert talk.hold is not None
    assert {**talk.hold.fields(), "since": 0} == Hold(root=str(talk.shop)).fields()
    for mode in ("default", "acceptEdits", "bypassPermissions", "auto"):
        assert talk.call("Write", WRITE, mode=mode) == REFUSED_WRITE


def test_a_hold_of_one_conversation_is_nothing_to_another(talk: Conversation) -> None:
    talk.held(Hold())
    talk.more["CLAUDE_PID"] = str(os.getppid())
    assert talk.call("Write", WRITE, mode="default") == SILENT


def test_a_named_conversation_is_held_where_no_process_shows(talk: Conversation) -> None:
    talk.more |= {"ASBUILT_CONVERSATION": "4-2", "CLAUDE_PID": "1"}
    talk.held(Hold(by="session"))
    assert talk.call("Write", WRITE, mode="bypassPermissions") == REFUSED_WRITE


def test_a_subagent_is_held_like_the_conversation_that_started_it(talk: Conversation) -> None:
    talk.held(Hold(root=str(talk.shop)))
    before = talk.folder.joinpath("hold").read_bytes()
    assert talk.call("Task", {"prompt": "look", "subagent_type": "Explore"}, mode="default") == SILENT
    own = {"agent_id": "a1", "agent_type": "general-purpose"}
    assert talk.call("Write", WRITE, mode="acceptEdits", **own) == REFUSED_WRITE
    assert (
        talk.call("Read", {"file_path": str(talk.shop / "src" / "app.py")}, mode="default", **own) == SILENT
    )
    assert talk.folder.joinpath("hold").read_bytes() == before


def test_a_subagent_that_plans_by_itself_is_held_and_its_conversation_is_not(talk: Conversation) -> None:
    assert talk.call("Write", WRITE, agent_id="a1") == REFUSED_WRITE
    assert talk.hold is None


def test_a_plan_that_such_a_subagent_writes_begins_no_hold_either(talk: Conversation) -> None:
    talk.given_a_plan()
    own = talk.plan.with_name(f"{talk.plan.stem}-agent-a1.md")
    assert talk.call("Write", {"file_path": str(own)}, agent_id="a1") == SILENT
    assert talk.hold is None


def test_a_subagent_in_a_worktree_of_its_own_is_refused(talk: Conversation) -> None:
    given = {"prompt": "go", "subagent_type": "general-purpose", "isolation": "worktree"}
    assert talk.call("Task", given) == denied(
        "plan mode is read-only, and this subagent would make a worktree."
    )


def test_the_plan_that_is_proposed_is_kept(talk: Conversation) -> None:
    assert talk.call("ExitPlanMode", {"plan": "# P", "planFilePath": str(talk.plan)}) == SILENT
    assert talk.hold is not None
    assert talk.hold.proposed == str(talk.plan)


def test_in_an_attempt_it_is_silent_whatever_is_held(talk: Conversation) -> None:
    talk.held(Hold())
    talk.more["ASBUILT_ATTEMPT"] = "1"
    assert talk.call("Write", WRITE) == SILENT
    assert talk.hook(b"\xff") == SILENT


# What each tool is.


@pytest.mark.parametrize("tool", sorted(QUIET | STARTS))
def test_a_tool_that_looks_or_talks_is_claude_codes_own_to_decide(talk: Conversation, tool: str) -> None:
    assert talk.call(tool, {"prompt": "x"}) == SILENT


@pytest.mark.parametrize("tool", sorted(WRITES))
def test_a_tool_that_writes_is_refused(talk: Conversation, tool: str) -> None:
    given = {WRITES[tool]: str(talk.shop / "src" / "app.py")}
    assert talk.call(tool, given) == denied(
        f"plan mode is read-only and {tool} changes src/app.py."
        " To propose the change, write it into the plan."
    )


@pytest.mark.parametrize("tool", sorted(READS))
def test_a_tool_that_reads_is_let_through_but_for_secrets(talk: Conversation, tool: str) -> None:
    assert talk.call(tool, {READS[tool]: str(talk.shop / "src" / "app.py")}) == SILENT
    secret = str(talk.home / ".ssh" / "id_ed25519")
    assert talk.call(tool, {READS[tool]: secret}) == _at_home(secret)


@pytest.mark.parametrize("tool", sorted(REFUSED))
def test_a_tool_that_acts_is_refused_by_name(talk: Conversation, tool: str) -> None:
    assert talk.call(tool, {}) == denied(f"plan mode is read-only and {tool} is refused: {REFUSED[tool]}.")


def test_a_tool_that_nobody_knows_is_refused(talk: Conversation) -> None:
    assert talk.call("Tomorrow", {}) == denied(
        "plan mode is read-only, and Tomorrow is a tool that asbuilt does not know."
    )


def test_a_tool_of_an_mcp_server_is_refused_unless_it_is_listed(talk: Conversation) -> None:
    refused = denied(
        "plan mode is read-only, and mcp__shop__stock is not listed as read-only."
        " If it does: asbuilt config set planning.tools mcp__shop__stock"
    )
    assert talk.call("mcp__shop__stock", {}) == refused
    config = talk.home / ".config" / "asbuilt" / "config.toml"
    value = "mcp__shop__stock, mcp__wiki__*"
    subprocess.run(
        [sys.executable, "-m", "asbuilt", "config", "set", "planning.tools", value],
        env=talk.environ,
        cwd=talk.shop,
        check=True,
        capture_output=True,
    )
    assert talk.call("mcp__shop__stock", {}) == SILENT
    assert talk.call("mcp__wiki__page", {}) == SILENT
    assert talk.call("mcp__shop__sell", {}).out.count('"deny"') == 1
    config.write_text("# by hand\n")
    assert talk.call("mcp__shop__stock", {}) == refused


# Secrets.


def _secret(name: str) -> Said:
    return denied(f"plan mode does not read secrets, and {name} is or contains one.")


def _at_home(name: str) -> Said:
    return denied(f"plan mode reads nothing in a home folder outside the repository, and {name} is there.")


def test_a_secret_is_not_read_by_another_name(talk: Conversation) -> None:
    secret = talk.home / ".aws"
    secret.mkdir()
    (talk.shop / "notes").symlink_to(secret)
    (talk.shop / "words").symlink_to(talk.shop / ".env")
    full = str(secret / "credentials")
    for name, shown in (
        (".env", ".env"),
        ("words", "words"),
        ("/proc/self/environ", "/proc/self/environ"),
        ("/etc/shadow", "/etc/shadow"),
    ):
        assert talk.call("Read", {"file_path": name}) == _secret(shown)
    for name, shown in (
        ("notes/credentials", f"{talk.shop}/notes/credentials"),
        ("~/.aws/credentials", full),
        (f"{talk.shop}/../home/.aws/credentials", full),
        ("~/notes.txt", str(talk.home / "notes.txt")),
        ("/home/somebody/notes.txt", "/home/somebody/notes.txt"),
        ("/Users/somebody/notes.txt", "/Users/somebody/notes.txt"),
    ):
        assert talk.call("Read", {"file_path": name}) == _at_home(shown)
    for pattern in ("~/.aws/*", "../home/.aws/*", f"{secret}/**"):
        assert talk.call("Glob", {"pattern": pattern}) == _at_home(str(secret))


def test_of_a_home_a_conversation_reads_toolchains_its_plans_and_what_is_kept_beside_its_transcript(
    talk: Conversation,
) -> None:
    for name in ("~/.cargo/registry/src/x/lib.rs", "~/.claude/plans/mine.md", "~/.claude/skills/a/SKILL.md"):
        assert talk.call("Read", {"file_path": name}) == SILENT
    projects = talk.home / ".claude" / "projects" / "shop"
    projects.mkdir(parents=True)
    talk.transcript = projects / "mine.jsonl"
    for name in ("mine/tool-results/a.txt", "memory/notes.md"):
        assert talk.call("Read", {"file_path": str(projects / name)}) == SILENT
    for name in ("mine.jsonl", "other/tool-results/a.txt"):
        assert talk.call("Read", {"file_path": str(projects / name)}) == _at_home(str(projects / name))


def test_a_search_does_not_reach_secrets_from_above(talk: Conversation) -> None:
    for path in ("/", str(talk.home.parent)):
        assert talk.call("Grep", {"pattern": "x", "path": path}) == _secret(path)
    assert talk.call("Grep", {"pattern": "x", "path": str(talk.home)}) == _at_home(str(talk.home))
    for among in (".e*", "*.py .env", "*.py, .env.*", "*.{py,env}"):
        assert talk.call("Grep", {"pattern": "x", "glob": among}) == _secret(str(talk.shop))
    assert talk.call("Grep", {"pattern": "x", "glob": "**/.env*"}) == _secret(str(talk.shop))
    assert talk.call("Grep", {"pattern": "x", "glob": "*.py"}) == SILENT
    assert talk.call("Grep", {"pattern": "x"}) == SILENT
    assert talk.call("Glob", {"pattern": "*", "path": "~"}) == _at_home(str(talk.home))
    assert talk.call("Glob", {"pattern": "**/.env*"}) == _secret(str(talk.shop))
    assert talk.call("Glob", {"pattern": "src/**/*.py"}) == SILENT


# Commands.


def test_a_command_that_reads_runs_in_the_ring(talk: Conversation) -> None:
    given = {"command": "git log --oneline | head -3", "description": "history", "timeout": 5000}
    look = f"{talk.state}/look 'git log --oneline | head -3'"
    assert talk.call("Bash", given) == rewritten({**given, "command": look})
    assert os.access(talk.state / "look", os.X_OK)
    assert os.access(talk.folder / "look", os.X_OK)


def test_a_wildcard_is_judged_by_the_files_that_are_there(talk: Conversation) -> None:
    (talk.shop / "notes").symlink_to(talk.home / ".netrc")
    assert talk.call("Bash", {"command": "cat s*/*.py"}).out.count('"deny"') == 0
    assert talk.call("Bash", {"command": "cat no*"}) == denied(
        f"no* stands for notes too, which is in a home and outside {talk.shop}: planning reads nothing else"
        " of a home. Allowed: the same with the names of the files you need"
        "\nTo propose the change, write it into the plan."
    )


def test_a_command_that_writes_is_refused_with_the_legal_way(talk: Conversation) -> None:
    plan = talk.shop / "plans" / "rate-limit.md"
    talk.held(Hold(root=str(talk.shop), plans=(str(plan),)))
    said = json.loads(talk.call("Bash", {"command": "sed -i s/10/20/ src/app.py"}, mode="default").out)
    answer = said["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert answer["permissionDecisionReason"].startswith("asbuilt: plan mode is read-only")
    assert answer["permissionDecisionReason"].endswith(
        "\nTo propose the change, write it into plans/rate-limit.md."
    )


@pytest.mark.parametrize(
    ("rule", "command", "meets"),
    [
        ("Bash", "ls", True),
        ("Bash(*)", "ls", True),
        ("BashOutput", "ls", False),
        ("Bash(git log)", "git log", True),
        ("Bash(git log)", "git log -3", False),
        ("Bash(git log:*)", "git log -3", True),
        ("Bash(git log *)", "git log", True),
        ("Bash(git * --stat)", "ls && git log -3 --stat", True),
        ("Bash(git * --stat)", "git log -3", False),
        ("Bash(head*)", "git log | head -3", True),
        ("Bash(rm *)", "git log --grep 'confirm it'", False),
        ("Read(./src)", "cat src/app.py", False),
    ],
)
@pytest.mark.parametrize("where", ["home/.claude/settings.json", "shop/.claude/settings.local.json"])
def test_a_rule_of_the_users_own_still_denies(
    talk: Conversation, rule: str, command: str, where: str, *, meets: bool
) -> None:
    file = talk.room / where
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"permissions": {"deny": ["WebFetch", rule]}}))
    said = talk.call("Bash", {"command": command})
    assert (said == denied(f"a deny rule of the user matches this command: {rule}.")) == meets
    assert ('"allow"' in said.out) != meets


def test_asbuilts_own_words_are_claude_codes_to_run(talk: Conversation) -> None:
    assert talk.call("Bash", {"command": "asbuilt status --json"}) == SILENT
    assert talk.call("Bash", {"command": "asbuilt mode exit"}).out.count('"deny"') == 1


@pytest.mark.parametrize("command", [None, 7, ["ls"], {"a": 1}])
def test_a_command_that_is_no_text_is_refused(talk: Conversation, command: object) -> None:
    assert talk.call("Bash", {"command": command}) == denied(
        "plan mode is on, and this call cannot be parsed."
    )


def test_without_a_conversation_no_command_runs(talk: Conversation) -> None:
    talk.more["CLAUDE_PID"] = ""
    assert talk.call("Bash", {"command": "ls"}) == denied(
        "the sandbox is unavailable: CLAUDE_PID does not name the conversation."
    )


def test_a_look_that_was_there_before_the_hold_is_not_trusted(talk: Conversation) -> None:
    talk.held(Hold(since=time.time() + 1))
    looks = [talk.folder / "look", talk.state / "look"]
    for look in looks:
        look.write_text("#!/bin/sh\ntouch /tmp/owned\n")
        look.chmod(0o700)
    talk.call("Bash", {"command": "ls"})
    assert [look.read_text()[:21] for look in looks] == ["#!/bin/sh\n# asbuilt: "] * 2


def _asked(talk: Conversation, command: str) -> Said:
    payload = talk.payload("Bash", {"command": command}, hook_event_name="PermissionRequest")
    return talk.hook(json.dumps(payload).encode(), event="PermissionRequest")


def test_nobody_is_asked_about_a_command_in_the_ring_and_about_all_others(talk: Conversation) -> None:
    allowed = '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'
    look = f"{talk.state}/look"
    assert _asked(talk, f"{look} 'git log'") == SILENT
    talk.held(Hold())
    assert _asked(talk, f"{look} 'git log'") == Said(0, allowed, "")
    assert _asked(talk, f"{look} ls") == Said(0, allowed, "")
    assert _asked(talk, f"{look} 'it'\\''s'") == Said(0, allowed, "")
    for command in (
        "git log",
        look,
        f"{look} ",
        f"{look} 'git log'; touch x",
        f"{look} 'git log' 'x'",
        f"{look} 'git log'x'y'",
        f"{look} ls; touch x",
        f"{look} $(touch x)",
        f"{look} ls\ntouch x",
        f"x={look} ls",
    ):
        assert _asked(talk, command) == SILENT
    assert talk.hook(b"{", event="PermissionRequest") == SILENT


@pytest.mark.parametrize(
    ("command", "asks_for"),
    [
        ("asbuilt run greet", "asbuilt run greet"),
        ("cd api && asbuilt run greet 2a 2>&1 | tail", "asbuilt run greet 2a 2>"),
        ("/usr/bin/asbuilt run-plan 'plans/greet.md 2'", "/usr/bin/asbuilt run-plan 'plans/greet.md 2'"),
        ("asbuilt run-plan 'plans/stop auto.md now'", "asbuilt run-plan 'plans/stop auto.md now'"),
        ("asbuilt run greet --dry-run && asbuilt run greet", "asbuilt run greet"),
        ("asbuilt run greet --auto", None),
        ("asbuilt run greet --finish", None),
        ("asbuilt run greet --every=4h", None),
        ("asbuilt run-plan 'plans/greet.md STATUS'", None),
        ("asbuilt run-plan 'plans/greet.md finish auto'", None),
        ("asbuilt status", None),
        ("echo asbuilt", None),
    ],
)
def test_a_phase_that_an_agent_would_start_is_confirmed_by_the_user_as_at_a_terminal(
    talk: Conversation, command: str, asks_for: str | None
) -> None:
    said = talk.call("Bash", {"command": command}, mode="acceptEdits")
    if asks_for is None:
        assert said == SILENT
    else:
        told = json.loads(said.out)["hookSpecificOutput"]
        assert told["permissionDecision"] == "ask"
        assert told["permissionDecisionReason"].startswith(f"asbuilt: `{asks_for}` starts a phase: ")
