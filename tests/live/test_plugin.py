"""What `asbuilt init` gives to real agents: they take it, run it, and have nothing left of it afterwards."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.cli.commands.init import agent_targets
from tests.live.conversation import SCRIPT, Place, Talk
from tests.live.starting import lodged
from tests.model import Call, Say, answer
from tests.plugin.planted import PLANTED
from tests.plugin.schema import problems

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live.starting import Lodging
    from tests.model import Model
    from tests.plugin.planted import Slip

pytestmark = pytest.mark.live

GIVEN = r"{{re:create your plan at (\S+\.md)}}"
"""The plan file that Claude Code names."""
WORST = ('"matchers"', "disable-model-invokation:")
"""Slips that would leave the gate unasked, or let a model approve."""
PASSED = "✔ Validation passed"
SETTINGS = b'{\r\n\t"model" : "opus",\r\n\t"permissions": {"defaultMode": "default"}\r\n}'


@pytest.fixture
def place(room: Path, model: Model) -> Place:
    return Place(room, model)


def _asbuilt(lodging: Lodging, *arguments: str, cwd: Path) -> str:
    """Type a command of asbuilt, as the person whose agent it is."""
    return subprocess.run(
        [sys.executable, "-m", "asbuilt", *arguments],
        cwd=cwd,
        env={**lodging.environment, "HOME": str(lodging.home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def _said(lodging: Lodging, *arguments: str, cwd: Path) -> tuple[int, str]:
    with lodging.start(*arguments, cwd=cwd) as process:
        out, err = process.communicate(timeout=240)
    return process.returncode, (out + err).decode()


def _validated(place: Place, folder: Path) -> list[str]:
    """Have Claude Code judge the marketplace and the plugin."""
    manifests = [str(folder / ".claude-plugin" / name) for name in ("marketplace.json", "plugin.json")]
    return [_said(place.lodging, "plugin", "validate", one, cwd=place.shop)[1].strip() for one in manifests]


def _listed(place: Place) -> list[dict[str, Any]]:
    code, said = _said(place.lodging, "plugin", "list", "--json", cwd=place.shop)
    assert code == 0, said
    listed: list[dict[str, Any]] = json.loads(said)
    return listed


def _written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _plugins(talk: Talk) -> list[str]:
    """Name the plugins that a conversation has, but those of Claude Code itself."""
    started = next(line for line in talk.said if line.get("subtype") == "init")
    return [one["source"] for one in started["plugins"] if one["path"] != "builtin"]


def _fired(talk: Talk) -> list[tuple[str, str]]:
    """List the hooks that a conversation tells of, and how they ended."""
    ended = [line for line in talk.said if line.get("subtype") == "hook_response"]
    return [(line["hook_event"], line["outcome"]) for line in ended]


def test_claude_code_takes_the_plugin_for_valid(place: Place) -> None:
    _asbuilt(place.lodging, "init", "--claude", cwd=place.shop)
    folder = place.home / ".local" / "share" / "asbuilt" / "claude"
    for said in _validated(place, folder):
        assert said.endswith(PASSED), said


@pytest.mark.parametrize(
    "slip",
    [
        pytest.param(slip, id=slip.after, marks=() if slip.after in WORST else pytest.mark.long)
        for slip in PLANTED
    ],
)
def test_our_schema_sees_a_misspelt_word_that_claude_code_lets_pass(slip: Slip, place: Place) -> None:
    files = slip.made_in(agent_targets.plugin_source())
    folder = _written(place.room / "slip", files)
    said = _validated(place, folder)
    passes = all(one.endswith(PASSED) for one in said)
    assert (passes, problems(files) != []) == (slip.passes, True), said


def test_a_conversation_has_hooks_and_commands_until_they_are_taken_away(place: Place, model: Model) -> None:
    settings = place.home / ".claude" / "settings.json"
    settings.write_bytes(SETTINGS)
    _asbuilt(place.lodging, "init", "--claude", cwd=place.shop)
    with Talk(place) as talk:
        model.play(SCRIPT, answer(Say("shown")))
        talk.say("/asbuilt:status")
        assert _plugins(talk) == ["asbuilt@asbuilt"]
        assert _fired(talk) == [("SessionStart", "success")]
    (asked,) = (one for one in model.requests(SCRIPT) if one.is_main)
    told = _asbuilt(place.lodging, "status", cwd=place.shop)
    assert f"asbuilt says:\n\n{told}" in asked.words
    assert "\nPlan mode is off.\n" in asked.words
    with Talk(place) as talk:  # it lists what a conversation has found installed when it began
        talk.say("hello")
    assert [(one["id"], one["enabled"]) for one in _listed(place)] == [("asbuilt@asbuilt", True)]

    _asbuilt(place.lodging, "init", "--claude", "--remove", cwd=place.shop)
    assert settings.read_bytes() == SETTINGS
    with Talk(place) as talk:
        model.play(SCRIPT, answer(Say("here")))
        talk.say("hello")
        assert (_plugins(talk), _fired(talk)) == ([], [])


def test_the_gate_of_the_installed_plugin_holds_planning(place: Place, model: Model) -> None:
    _asbuilt(place.lodging, "init", "--claude", cwd=place.shop)
    file = place.shop / "made.txt"
    with Talk(place, "--permission-mode", "plan", answer=lambda *_: {"behavior": "allow"}) as talk:
        model.play(
            SCRIPT, answer(Call("Write", {"file_path": str(file), "content": "x"})), answer(Say("refused"))
        )
        talk.say("write it")
    assert not file.exists()
    last = [one for one in model.requests(SCRIPT) if one.is_main][-1]
    assert "plan mode is read-only" in last.words


def test_a_person_begins_planning_and_looks_at_the_plan_with_one_command(place: Place, model: Model) -> None:
    _asbuilt(place.lodging, "init", "--claude", cwd=place.shop)
    plan, other = place.shop / "plans" / "login.md", place.shop / "made.txt"
    model.play(
        SCRIPT,
        answer(Call("Write", {"file_path": str(other), "content": "x"})),
        answer(Say("refused")),
        answer(Say("nothing yet")),
        answer(Call("Write", {"file_path": str(plan), "content": "# Login\n\nA goal.\n"})),
        answer(Say("written")),
        answer(Say("shown")),
    )
    with Talk(place, "--permission-mode", "acceptEdits", answer=lambda *_: {"behavior": "allow"}) as talk:
        for said in ("/asbuilt:plan log people in", "/asbuilt:plan", "write it", "/asbuilt:plan"):
            talk.say(said)
    assert (other.exists(), plan.read_text()) == (False, "# Login\n\nA goal.\n")
    begun, refused, empty, _, _, shown = (one.words for one in model.requests(SCRIPT) if one.is_main)
    assert "Enabled plan mode. Read-only, except for a plan in plans." in begun
    assert "ARGUMENTS: log people in" in begun
    assert "plan mode is read-only" in refused
    assert "No plan written yet." in empty
    assert "\nPlan: plans/login.md\n\n# Login\n\nA goal.\n" in shown


def test_the_words_of_run_plan_are_read_by_asbuilt_and_not_by_the_model(place: Place, model: Model) -> None:
    _asbuilt(place.lodging, "init", "--claude", cwd=place.shop)
    plan = place.shop / "plans" / "stop auto.md"
    plan.parent.mkdir(exist_ok=True)
    plan.write_text("# Login\n\nA goal.\n", encoding="utf-8")
    skill = place.home / ".local/share/asbuilt/claude/skills/run-plan/SKILL.md"
    (called,) = re.findall(r"^Run `(.+?)` with", skill.read_text(encoding="utf-8"), re.MULTILINE)
    words = "plans/stop auto.md STATUS"
    model.play(SCRIPT, answer(Call("Bash", {"command": f"{called} '{words}'"})), answer(Say("shown")))
    with Talk(place, answer=lambda *_: {"behavior": "deny", "message": "nobody is asked"}) as talk:
        talk.say(f"/asbuilt:run-plan {words}")
    first, second = (one.words for one in model.requests(SCRIPT) if one.is_main)
    assert f"ARGUMENTS: {words}" in first
    assert "= asbuilt status 'plans/stop auto.md'" in second


def test_while_claude_code_plans_the_command_shows_its_plan(place: Place, model: Model) -> None:
    _asbuilt(place.lodging, "init", "--claude", cwd=place.shop)
    model.play(
        SCRIPT,
        answer(Say("nothing yet")),
        answer(Call("Write", {"file_path": GIVEN, "content": "# Given\n"})),
        answer(Say("written")),
        answer(Say("shown")),
    )
    with Talk(place, "--permission-mode", "plan", answer=lambda *_: {"behavior": "allow"}) as talk:
        for said in ("/asbuilt:plan", "write it", "/asbuilt:plan"):
            talk.say(said)
    empty, _, _, shown = (one.words for one in model.requests(SCRIPT) if one.is_main)
    assert "turned on by Claude Code." in _flat(empty)
    assert "No plan written yet." in empty
    assert ".md\n\n# Given\n" in shown


def _flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("agent", ["planner", "verifier"])
def test_an_agent_of_the_plugin_has_tools_that_read(agent: str, place: Place, model: Model) -> None:
    _asbuilt(place.lodging, "init", "--claude", cwd=place.shop)
    (place.shop / "CLAUDE.md").write_text("the memory of the project\n")
    given: dict[str, Any] = {
        "description": "look",
        "prompt": "look around",
        "subagent_type": f"asbuilt:{agent}",
    }
    with Talk(place) as talk:
        model.play(
            SCRIPT,
            answer(Call("Agent", given)),
            answer(Say("seen"), when="look around"),
            answer(Say("done")),
        )
        talk.say("go")
    (asked,) = (one for one in model.requests(SCRIPT) if _prompt(one.body).startswith("READ-ONLY."))
    assert sorted(tool["name"] for tool in asked.body["tools"]) == ["Glob", "Grep", "Read"]
    assert ("the memory of the project" in asked.words) == (agent == "verifier")


def _prompt(body: dict[str, Any]) -> str:
    """Give the part of a system prompt that an agent's own definition is."""
    texts = [part["text"] for part in body.get("system") or [] if isinstance(part, dict)]
    return next((text for text in texts if text.startswith("READ-ONLY.")), "")


@pytest.mark.long
@pytest.mark.parametrize(
    ("agent", "typed"),
    [
        ("gemini", ("-p", "/asbuilt:status rate-limit", "--approval-mode", "yolo")),
        ("opencode", ("run", "--command", "asbuilt-status", "rate-limit")),
    ],
)
def test_a_command_runs_ours_at_once_and_takes_what_was_typed(
    agent: str, typed: tuple[str, ...], room: Path, model: Model
) -> None:
    lodging = lodged(agent, room / "home", model.url(SCRIPT))
    _asbuilt(lodging, "init", f"--{agent}", cwd=room)
    model.play(SCRIPT, answer(Say("shown")))
    code, said = _said(lodging, *typed, cwd=room)
    assert code == 0, said
    (asked,) = (one.words for one in model.requests(SCRIPT) if one.is_main)
    assert f"asbuilt says:\n\n{_asbuilt(lodging, 'status', cwd=room)}" in asked
    assert "rate-limit\n" in asked


@pytest.mark.long
def test_gemini_lists_the_extension_until_it_is_taken_away(room: Path, model: Model) -> None:
    lodging = lodged("gemini", room / "home", model.url(SCRIPT))
    _asbuilt(lodging, "init", "--gemini", cwd=room)
    assert "✓ asbuilt (" in _said(lodging, "extensions", "list", cwd=room)[1]
    _asbuilt(lodging, "init", "--gemini", "--remove", cwd=room)
    assert "asbuilt" not in _said(lodging, "extensions", "list", cwd=room)[1]


def test_codex_reads_a_skill_to_its_model_when_a_person_names_it_and_not_before(
    room: Path, model: Model
) -> None:
    lodging = lodged("codex-acp", room / "home", model.url(SCRIPT))
    _asbuilt(lodging, "init", "--codex", cwd=room)
    model.play(SCRIPT, answer(Say("hello")), answer(Say("shown")))
    with lodging.start(cwd=room) as process:
        _asked(process, "initialize", protocolVersion=1, clientCapabilities={})
        session = _asked(process, "session/new", cwd=str(room), mcpServers=[])["sessionId"]
        for text in ("hello", "$asbuilt-status"):
            _asked(process, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])
        # What was started is a launcher; the agent is its child.
        os.killpg(process.pid, signal.SIGKILL)
    before, after = (one.words for one in model.requests(SCRIPT) if one.is_main)
    assert "asbuilt-status" not in before
    assert "status` now: what it says stands here)" in after
    assert "asbuilt-approve" not in after


def _asked(process: subprocess.Popen[bytes], method: str, **params: object) -> dict[str, Any]:
    """Ask an agent something over its protocol, and pass over what it tells meanwhile."""
    assert process.stdin is not None
    assert process.stdout is not None
    request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    for line in process.stdout:
        said = json.loads(line)
        if said.get("id") == method:
            result: dict[str, Any] = said["result"]
            return result
    raise AssertionError("it has gone")
