"""The gate in a real conversation: what it refuses stays undone, what it lets through runs in the ring."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.errors import GATE_STOPPED
from asbuilt.policy.plan_mode.tool_tables import QUIET, READS, REFUSED, RUNS, STARTS, WRITES
from asbuilt.session.hook_command import ASKED, hook_argv
from asbuilt.session.look_command import rule
from tests.live.conversation import SCRIPT, Place, Talk
from tests.live.stage import git
from tests.live.starting import QUIET as QUIETLY
from tests.live.terminal import Terminal
from tests.model import Call, Say, answer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.model import Model

pytestmark = pytest.mark.live

DONE = answer(Say("DONE"))
KNOWN = QUIET | STARTS | {RUNS, *READS, *WRITES, *REFUSED}


HOOKS = {
    event: [{"hooks": [{"type": "command", "command": shlex.join(hook_argv(event))}]}] for event in ASKED
}


@pytest.fixture
def place(room: Path, model: Model) -> Place:
    made = Place(room, model)
    made.settle({"hooks": HOOKS, "useAutoModeDuringPlan": False})
    return made


def told(lines: list[dict[str, Any]]) -> list[str]:
    """List what the model was told of its calls."""
    return [
        str(part["content"])
        for line in lines
        if line.get("type") == "user" and isinstance(line["message"]["content"], list)
        for part in line["message"]["content"]
        if part.get("type") == "tool_result"
    ]


def _calls(place: Place) -> None:
    app = str(place.shop / "app.py")
    place.model.play(
        SCRIPT,
        answer(Call("Write", {"file_path": app, "content": "x"})),
        answer(Call("Bash", {"command": "sed -i s/shop/x/ app.py", "description": "edit"})),
        answer(Call("Bash", {"command": "git log --format=%s | head -3", "description": "look"})),
        DONE,
    )


def test_planning_is_held_with_our_reasons_and_a_look_runs_in_the_ring(place: Place) -> None:
    _calls(place)
    with Talk(place, "--permission-mode", "plan") as talk:
        talk.say("plan it")
    written, edited, looked = told(talk.said)
    assert "asbuilt: plan mode is read-only and Write changes app.py." in written
    assert "asbuilt: plan mode is read-only" in edited
    assert looked == "start"
    assert git(place.shop, "status", "--short") == ""
    (script,) = (place.home / ".local" / "state" / "asbuilt" / "conversations").glob("*/look")
    assert "read-only sandbox (bwrap)" in script.read_text()
    tools = {tool for line in talk.said if line.get("subtype") == "init" for tool in line["tools"]}
    assert tools - KNOWN == set(), "a tool of this version that no table names: read what it does, then say"


def test_one_rule_lets_looks_run_where_auto_mode_works_during_planning(place: Place) -> None:
    spared = rule(str(place.home / ".local" / "state" / "asbuilt"))
    place.settle({"hooks": HOOKS, "permissions": {"allow": [spared]}})
    _calls(place)
    with Talk(place, "--permission-mode", "plan") as talk:
        talk.say("plan it")
    written, edited, looked = told(talk.said)
    assert ("asbuilt: " in written, "asbuilt: " in edited, looked) == (True, True, "start")
    assert git(place.shop, "status", "--short") == ""


def test_a_conversation_that_does_not_plan_is_not_touched(place: Place) -> None:
    place.model.play(
        SCRIPT, answer(Call("Bash", {"command": "echo x > made.txt", "description": "make"})), DONE
    )
    with Talk(place, "--permission-mode", "bypassPermissions", environment={"IS_SANDBOX": "1"}) as talk:
        talk.say("make it")
    assert (place.shop / "made.txt").read_text() == "x\n"
    assert not (place.home / ".local").exists()


def _session(place: Place, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    """Start it by `asbuilt session --plan`, as somebody whose claude asks nobody but its model."""
    programs = place.room / "programs"
    programs.mkdir()
    quiet = " ".join(f"{name}={value}" for name, value in QUIETLY["claude"].items())
    (programs / "claude").write_text(f'#!/bin/sh\n{quiet} exec {place.lodging.program} "$@"\n')
    (programs / "claude").chmod(0o755)
    environment = place.lodging.environment
    done = subprocess.run(
        [sys.executable, "-m", "asbuilt", "session", "--plan", "--", "claude", "-p", *arguments],
        cwd=place.shop,
        env={
            **environment,
            "HOME": str(place.home),
            "IS_SANDBOX": "1",
            "PATH": f"{programs}:{environment['PATH']}",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


FORM = ("--output-format", "stream-json", "--verbose", "plan it")


def test_a_session_is_held_by_the_gate_and_writes_its_plan(place: Place) -> None:
    place.settle({})
    plan = r"{{re:create your plan at (\S+?) using}}"
    place.model.play(
        SCRIPT,
        answer(Call("Write", {"file_path": str(place.shop / "app.py"), "content": "x"})),
        answer(Call("Bash", {"command": "git log --format=%s | head -3", "description": "look"})),
        answer(Call("Write", {"file_path": plan, "content": "# Plan"})),
        DONE,
    )
    code, lines, _ = _session(place, *FORM)
    written, looked, _ = told(lines)
    assert code == 0
    assert "asbuilt: plan mode is read-only and Write changes app.py." in written
    assert looked == "start"
    assert [file.read_text() for file in (place.shop / "plans").iterdir()] == ["# Plan"]
    assert (place.shop / "app.py").read_text() == "print('shop')\n"


def test_a_session_without_the_gate_is_held_by_the_kernel(place: Place) -> None:
    place.settle({"disableAllHooks": True})
    secret = place.home / ".ssh" / "id"
    secret.parent.mkdir()
    secret.write_text("secret")
    place.model.play(
        SCRIPT,
        answer(Call("Write", {"file_path": str(place.shop / "new.txt"), "content": "x"})),
        answer(Call("Bash", {"command": f"echo x > app.py; cat {secret}", "description": "edit"})),
        answer(Call("Bash", {"command": "echo x > ../home/.claude/settings.json", "description": "edit"})),
        DONE,
    )
    before = (place.home / ".claude" / "settings.json").read_bytes()
    bypass = ("--permission-mode", "bypassPermissions")
    code, lines, _ = _session(place, *bypass, *FORM)
    assert code == 0
    assert [("EROFS" in one or "Read-only file system" in one) for one in told(lines)] == [True, True, True]
    assert "secret" not in " ".join(told(lines))
    assert git(place.shop, "status", "--short") == ""
    assert (place.home / ".claude" / "settings.json").read_bytes() == before


def test_what_a_session_leaves_beside_a_login_is_told(place: Place) -> None:
    """A login in a file is renewed beside itself, so its folder is writable; what was there is not."""
    place.settle({"disableAllHooks": True})
    own = place.home / ".claude"
    (own / ".credentials.json").write_text("{}")
    (own / "CLAUDE.md").write_text("Be kind.")
    script = f"echo x > {own}/CLAUDE.md; mkdir {own}/hooks; echo x > {own}/hooks/later.sh"
    place.model.play(SCRIPT, answer(Call("Bash", {"command": script, "description": "stay"})), DONE)
    code, _, said = _session(place, "--permission-mode", "bypassPermissions", *FORM)
    assert (own / "CLAUDE.md").read_text() == "Be kind."
    assert code == GATE_STOPPED
    assert f"hooks/later.sh in {own} changed while it planned" in " ".join(said.split())


SHELL = '"$@"; echo STOPPED $?; read _; fg > /dev/null; echo ENDED $?; read _'


@pytest.mark.long
def test_a_session_has_the_persons_terminal(place: Place) -> None:
    place.settle({"permissions": {"defaultMode": "default"}})
    place.model.play(
        SCRIPT,
        answer(Call("Bash", {"command": "git log --format=said-%s | head -3", "description": "look"})),
        DONE,
    )
    shell = ("bash", "--norc", "--noprofile", "-i", "-c", SHELL, "bash")
    with Terminal(
        place, before=(*shell, sys.executable, "-m", "asbuilt", "session", "--plan", "--")
    ) as screen:
        screen.type("plan it")
        screen.sees("DONE")
        assert "said-start" in str(place.model.requests(SCRIPT)[-1].body)
        screen.press("C-z")
        screen.sees("STOPPED 148")
        screen.press("Enter")
        screen.sees("plan mode on")
        screen.type("/exit")
        screen.sees("ENDED 0")
