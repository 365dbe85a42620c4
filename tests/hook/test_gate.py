"""The gate before every call of a tool: when it speaks, what it says, and that no failure opens it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.policy.holding import Hold
from asbuilt.policy.planning import QUIET, READS, REFUSED, STARTS, WRITES
from asbuilt.session.entry import hook_argv
from tests.hook.calling import SILENT, Said, denied, rewritten

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hook.calling import Conversation

NO_ANSWER = Said(2, "", "asbuilt: the gate came to no answer, so nothing was done. Try it again.\n")
UNREADABLE = denied("this call cannot be read, so nobody can say whether planning is held. Try it again.")
WRITE = {"file_path": "/etc/motd", "content": "x"}
REFUSED_WRITE = denied(
    "planning is read-only and Write changes /etc/motd. To propose the change, write it into the plan."
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
    assert talk.call("Write", {"file_path": str(talk.plan)}, agent_id="a1") == SILENT
    assert talk.hold is None


def test_a_subagent_in_a_worktree_of_its_own_is_refused(talk: Conversation) -> None:
    given = {"prompt": "go", "subagent_type": "general-purpose", "isolation": "worktree"}
    assert talk.call("Task", given) == denied(
        "planning is read-only, and this subagent would make a worktree."
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
        f"planning is read-only and {tool} changes src/app.py. To propose the change, write it into the plan."
    )


@pytest.mark.parametrize("tool", sorted(READS))
def test_a_tool_that_reads_is_let_through_but_for_secrets(talk: Conversation, tool: str) -> None:
    assert talk.call(tool, {READS[tool]: str(talk.shop / "src" / "app.py")}) == SILENT
    secret = str(talk.home / ".ssh" / "id_ed25519")
    assert talk.call(tool, {READS[tool]: secret}) == _secret(secret)


@pytest.mark.parametrize("tool", sorted(REFUSED))
def test_a_tool_that_acts_is_refused_by_name(talk: Conversation, tool: str) -> None:
    assert talk.call(tool, {}) == denied(f"planning is read-only and {tool} is refused: {REFUSED[tool]}.")


def test_a_tool_that_nobody_knows_is_refused(talk: Conversation) -> None:
    assert talk.call("Tomorrow", {}) == denied(
        "planning is read-only, and Tomorrow is a tool that asbuilt does not know."
    )


def test_a_tool_of_an_mcp_server_is_refused_unless_it_is_listed(talk: Conversation) -> None:
    refused = denied(
        "planning is read-only, and nobody has said that mcp__shop__stock only reads."
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
    return denied(f"planning does not read secrets, and {name} is or holds one.")


def test_a_secret_is_not_read_by_another_name(talk: Conversation) -> None:
    secret = talk.home / ".aws"
    secret.mkdir()
    (talk.shop / "notes").symlink_to(secret)
    (talk.shop / "words").symlink_to(talk.shop / ".env")
    full = str(secret / "credentials")
    for name, shown in (
        ("notes/credentials", "notes/credentials"),
        ("~/.aws/credentials", full),
        (f"{talk.shop}/../home/.aws/credentials", full),
        (".env", ".env"),
        ("words", "words"),
        ("/proc/self/environ", "/proc/self/environ"),
        ("/etc/shadow", "/etc/shadow"),
    ):
        assert talk.call("Read", {"file_path": name}) == _secret(shown)
    for pattern in ("~/.aws/*", "../home/.aws/*", f"{secret}/**"):
        assert talk.call("Glob", {"pattern": pattern}) == _secret(str(secret))


def test_a_search_does_not_reach_secrets_from_above(talk: Conversation) -> None:
    for path in ("/", str(talk.home.parent), str(talk.home)):
        assert talk.call("Grep", {"pattern": "x", "path": path}) == _secret(path)
    assert talk.call("Grep", {"pattern": "x", "glob": "**/.env*"}) == _secret(str(talk.shop))
    assert talk.call("Grep", {"pattern": "x", "glob": "*.py"}) == SILENT
    assert talk.call("Grep", {"pattern": "x"}) == SILENT
    assert talk.call("Glob", {"pattern": "*", "path": "~"}) == SILENT


# The conversation's own plan.


def test_the_plan_file_that_claude_code_named_is_writable_and_remembered(talk: Conversation) -> None:
    given = {"file_path": str(talk.plan), "content": "# Plan"}
    assert talk.call("Write", given).out.count('"deny"') == 1
    talk.given_a_plan()
    assert talk.call("Write", given) == SILENT
    talk.transcript.unlink()
    talk.plan.write_text("# Plan")
    assert talk.call("Edit", {"file_path": str(talk.plan)}, mode="default") == SILENT
    assert talk.hold is not None
    assert talk.hold.plans == (str(talk.plan),)


def test_a_refusal_names_the_plan_to_write_to(talk: Conversation) -> None:
    plan = talk.shop / "plans" / "rate-limit.md"
    talk.held(Hold(root=str(talk.shop), plans=(str(plan),)))
    assert talk.call("Edit", {"file_path": str(talk.shop / "src" / "app.py")}) == denied(
        "planning is read-only and Edit changes src/app.py."
        " To propose the change, write it into plans/rate-limit.md."
    )


def test_words_of_an_agent_do_not_name_a_plan_file(talk: Conversation) -> None:
    aim = str(talk.shop / "README.md")
    told = {"type": "plan_mode", "planFilePath": aim}
    lines = [
        {"type": "assistant", "message": {"content": [{"type": "text", "text": json.dumps(told)}]}},
        {"type": "user", "attachment": told},
        {"type": "attachment", "attachment": {**told, "isSubAgent": True}},
        {
            "type": "attachment",
            "attachment": {**told, "type": "file", "content": json.dumps(told)},
        },
    ]
    talk.transcript.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"type":"att')
    assert talk.call("Write", {"file_path": aim}).out.count('"deny"') == 1


def _link(talk: Conversation) -> str:
    talk.plan.symlink_to(talk.shop / "src" / "app.py")
    return str(talk.plan)


def _second_name(talk: Conversation) -> str:
    os.link(talk.shop / "src" / "app.py", talk.plan)
    return str(talk.plan)


def _folder(talk: Conversation) -> str:
    talk.plan.mkdir()
    return str(talk.plan)


WAYS: dict[str, Any] = {
    "a link at its end": _link,
    "a second name of another file": _second_name,
    "a folder": _folder,
    "a neighbour": lambda talk: str(talk.plan.with_name("other.md")),
    "another kind": lambda talk: str(talk.plan.with_suffix(".py")),
    "dots": lambda talk: f"{talk.plan.parent}/../plans/{talk.plan.name}",
    "a blank behind": lambda talk: f"{talk.plan} ",
    "a tilde": lambda talk: f"~/.claude/plans/{talk.plan.name}",
    "below it": lambda talk: f"{talk.plan}/x.md",
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_but_the_plan_itself_is_written_by_its_name(talk: Conversation, way: str) -> None:
    talk.given_a_plan()
    talk.held(Hold(plans=(str(talk.plan),)))
    said = talk.call("Write", {"file_path": WAYS[way](talk), "content": "x"})
    assert (said.code, said.out.count('"permissionDecision":"deny"')) == (0, 1)


@pytest.mark.parametrize("path", [None, "", 7, ["/a.md"], "/a\0.md"])
def test_a_path_that_cannot_be_read_is_refused(talk: Conversation, path: object) -> None:
    for tool in ("Write", "Read"):
        assert talk.call(tool, {"file_path": path}) == denied(
            "planning is held here, and this call cannot be read."
        )


def test_in_a_folder_of_plans_a_new_plan_becomes_the_conversations_own(talk: Conversation) -> None:
    plans = talk.shop / "plans"
    plans.mkdir()
    (plans / "theirs.md").write_text("# Theirs")
    talk.held(Hold(by="session", root=str(talk.shop), plans=(str(plans),)))
    assert talk.call("Edit", {"file_path": str(plans / "theirs.md")}).out.count('"deny"') == 1
    assert talk.call("Write", {"file_path": str(plans / "below" / "new.md")}).out.count('"deny"') == 1
    assert talk.call("Write", {"file_path": str(plans / "new.md")}) == SILENT
    (plans / "new.md").write_text("# New")
    assert talk.call("Edit", {"file_path": str(plans / "new.md")}) == SILENT


# Commands.


def test_a_command_that_reads_runs_in_the_ring(talk: Conversation) -> None:
    given = {"command": "git log --oneline | head -3", "description": "history", "timeout": 5000}
    look = f"{talk.state}/look 'git log --oneline | head -3'"
    assert talk.call("Bash", given) == rewritten({**given, "command": look})
    assert os.access(talk.state / "look", os.X_OK)
    assert os.access(talk.folder / "look", os.X_OK)


def test_a_command_that_writes_is_refused_with_the_legal_way(talk: Conversation) -> None:
    plan = talk.shop / "plans" / "rate-limit.md"
    talk.held(Hold(root=str(talk.shop), plans=(str(plan),)))
    said = json.loads(talk.call("Bash", {"command": "sed -i s/10/20/ src/app.py"}, mode="default").out)
    answer = said["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert answer["permissionDecisionReason"].startswith("asbuilt: planning is read-only")
    assert answer["permissionDecisionReason"].endswith(
        " To propose the change, write it into plans/rate-limit.md."
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
    assert (said == denied(f"a rule of the person's own denies this command: {rule}.")) == meets
    assert ('"allow"' in said.out) != meets


def test_asbuilts_own_words_are_claude_codes_to_run(talk: Conversation) -> None:
    assert talk.call("Bash", {"command": "asbuilt status --json"}) == SILENT
    assert talk.call("Bash", {"command": "asbuilt mode exit"}).out.count('"deny"') == 1


@pytest.mark.parametrize("command", [None, 7, ["ls"], {"a": 1}])
def test_a_command_that_is_no_text_is_refused(talk: Conversation, command: object) -> None:
    assert talk.call("Bash", {"command": command}) == denied(
        "planning is held here, and this call cannot be read."
    )


def test_without_a_conversation_no_command_runs(talk: Conversation) -> None:
    talk.more["CLAUDE_PID"] = ""
    assert talk.call("Bash", {"command": "ls"}) == denied(
        "no ring holds this command, because CLAUDE_PID does not name the conversation."
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


# Failing closed.


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'{"permission_mode": 7}',
        b'{"permission_mode": "default"',
        b'{"permission_mode": "default"}{}',
        b"[" * 100_000,
        b'{"permission_mode":"default","tool_input":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"permission_mode":"default","x":"' + b"a" * (65 << 20) + b'"}',
    ],
    ids=lambda data: repr(data[:40]),
)
def test_what_cannot_be_read_is_denied(talk: Conversation, data: bytes) -> None:
    assert talk.hook(data) == UNREADABLE


@pytest.mark.parametrize("missing", ["tool_name", "tool_input", "cwd"])
def test_a_held_call_with_a_part_missing_is_denied(talk: Conversation, missing: str) -> None:
    payload = talk.payload("Read", {"file_path": "/etc/motd"})
    del payload[missing]
    assert talk.hook(json.dumps(payload).encode()) == denied(
        "planning is held here, and this call cannot be read."
    )


def _damage(talk: Conversation, kind: str) -> None:
    talk.folder.mkdir(parents=True)
    file = talk.folder / "hold"
    match kind:
        case "a folder":
            file.mkdir()
        case "a pipe":
            os.mkfifo(file)
        case "a link":
            file.symlink_to("/dev/null")
        case "a link to itself":
            file.symlink_to(file)
        case "of another version":
            file.write_text('{"v":2}')
        case "cut off":
            file.write_text('{"v":1,"by":"mo')
        case "empty":
            file.touch()
        case _:
            file.write_bytes(b"\xff" * (2 << 20))


@pytest.mark.parametrize(
    "kind",
    ["a folder", "a pipe", "a link", "a link to itself", "of another version", "cut off", "empty", "huge"],
)
def test_a_hold_that_cannot_be_read_holds_everything(talk: Conversation, kind: str) -> None:
    _damage(talk, kind)
    for tool in ("Read", "Write", "TodoWrite"):
        answer = json.loads(talk.call(tool, WRITE, mode="default").out)["hookSpecificOutput"]
        assert answer["permissionDecision"] == "deny"
        assert answer["permissionDecisionReason"].startswith(
            "asbuilt: whether planning is held here cannot be read ("
        )
        assert answer["permissionDecisionReason"].endswith(" The person ends it by: asbuilt mode exit")


def test_a_state_folder_that_is_none_is_no_way_round(talk: Conversation) -> None:
    talk.more["ASBUILT_HOME"] = "/dev/null/nowhere"
    assert talk.call("Write", WRITE).out.count('"deny"') == 1
    assert talk.call("Read", {"file_path": "/etc/motd"}).out.count('"deny"') == 1


def test_a_payload_that_never_ends_is_denied_by_its_own_alarm(talk: Conversation) -> None:
    with subprocess.Popen(
        hook_argv("PreToolUse"),
        env=talk.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"permission_mode": "default"')
        process.stdin.flush()
        code = process.wait(120)
        assert process.stdout is not None
        assert process.stderr is not None
        assert Said(code, process.stdout.read().decode(), process.stderr.read().decode()) == NO_ANSWER


def test_an_answer_that_nobody_takes_is_a_block(talk: Conversation) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    payload = json.dumps(talk.payload("Write", WRITE)).encode()
    done = subprocess.run(
        hook_argv("PreToolUse"),
        input=payload,
        env=talk.environ,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert Said(done.returncode, "", done.stderr.decode()) == NO_ANSWER


def test_an_installation_in_pieces_blocks_and_other_events_stay_silent(tmp_path: Path) -> None:
    script = tmp_path / "asbuilt" / "hook" / "main.py"
    script.parent.mkdir(parents=True)
    shutil.copy(hook_argv("PreToolUse")[3], script)
    for event, expected in (("PreToolUse", NO_ANSWER), ("Stop", SILENT), ("PermissionRequest", SILENT)):
        argv = [sys.executable, "-I", "-S", str(script), event]
        done = subprocess.run(argv, input=b"{}", capture_output=True, check=False)
        assert Said(done.returncode, done.stdout.decode(), done.stderr.decode()) == expected
