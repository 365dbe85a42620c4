"""A person asks whether planning is held, holds it, and lets it go on; an agent may do less."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from asbuilt.session.conversation import hold_in
from tests.hook.talk import Talk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    with Talk(tmp_path) as made:
        made.prompt("plan it", mode="plan")
        yield made


def ended(talk: Talk, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Type `asbuilt mode …` at a terminal in the folder of the conversation."""
    own = {name: value for name, value in talk.environ.items() if name != "CLAUDE_PID"}
    return subprocess.run(
        [sys.executable, "-m", "asbuilt", "mode", *arguments],
        cwd=talk.shop,
        env={**own, **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def typed(talk: Talk, *arguments: str, **environ: str) -> tuple[int, str]:
    """Give its exit code, and what it said in one line."""
    done = ended(talk, *arguments, **environ)
    said = (done.stdout or done.stderr).replace(talk.folder.name, "KEY")
    return done.returncode, re.sub(r"\s+", " ", re.sub(r"\d\d:\d\d", "HH:MM", said)).strip()


def by(talk: Talk) -> str:
    hold = hold_in(str(talk.folder))
    return hold.by if hold else ""


def test_what_is_shown_is_the_hold_of_the_only_conversation_of_the_folder(talk: Talk) -> None:
    assert typed(talk, "show") == (0, "KEY Plan mode is on since HH:MM, turned on by Claude Code.")
    code, said = typed(talk, "show", "--json")
    assert (code, {**json.loads(said), "since": None}) == (
        0,
        {
            "schema": "asbuilt.mode/1",
            "conversation": "KEY",
            "planning": "held",
            "by": "mode",
            "since": None,
            "before": None,
            "plans": [],
        },
    )


def test_a_person_holds_planning_and_only_a_person_ends_that(talk: Talk) -> None:
    assert typed(talk, "enter")[1] == "KEY Plan mode is on since HH:MM, turned on by your command."
    talk.prompt("go on", mode="acceptEdits")
    assert by(talk) == "command"
    assert typed(talk, "exit") == (
        0,
        (
            "KEY Plan mode is off. If Claude Code itself is in plan mode, press Shift+Tab there or approve"
            " the plan."
        ),
    )
    assert by(talk) == ""


def test_in_a_conversation_that_asbuilt_does_not_know_planning_is_held_from_inside(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        environ = {"CLAUDECODE": "1", "CLAUDE_PID": str(talk.agent.pid)}
        assert ended(talk, "show").returncode == 3
        assert ended(talk, "enter", **environ).returncode == 0
        hold = hold_in(str(talk.folder))
        assert hold is not None
        assert (hold.by, hold.plans) == ("command", (str(talk.shop / "plans"),))


@pytest.mark.parametrize("command", [("exit",), ("set", "default")])
def test_an_agent_cannot_end_planning(talk: Talk, command: tuple[str, ...]) -> None:
    typed(talk, "enter")
    code, said = typed(talk, *command, CLAUDECODE="1", CLAUDE_PID=str(talk.agent.pid))
    assert (code, by(talk)) == (4, "command")
    assert "an agent cannot turn plan mode off" in said


def test_an_agent_that_hides_what_it_is_cannot_end_planning_either(talk: Talk, tmp_path: Path) -> None:
    # The conversation is a process above the command, as it is above a shell that its agent has started.
    script = tmp_path / "agent.sh"
    script.write_text(
        'read key\n"$PYTHON" -m asbuilt mode enter --conversation "$key"\n'
        '"$PYTHON" -m asbuilt mode exit --conversation "$key"\necho "exit $?"\n'
    )
    environ = {**talk.environ, "PYTHON": sys.executable}
    del environ["CLAUDE_PID"]
    agent = subprocess.Popen(
        ["/bin/sh", str(script)],
        cwd=talk.shop,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with open(f"/proc/{agent.pid}/stat") as stat:  # noqa: PTH123  a file of the kernel
        started = stat.read().rpartition(")")[2].split()[19]
    folder = talk.state / "conversations" / f"{agent.pid}-{started}"
    folder.mkdir()
    said, _ = agent.communicate(f"{folder.name}\n", timeout=120)
    assert "an agent cannot turn plan mode off" in said
    assert said.endswith("exit 4\n")
    assert hold_in(str(folder)) is not None


def test_an_exit_where_planning_is_not_held_is_refused(talk: Talk) -> None:
    assert typed(talk, "exit")[0] == 0
    code, said = typed(talk, "exit")
    assert (code, "plan mode is not on in KEY" in said) == (4, True)


def test_set_is_the_same_in_one_word(talk: Talk) -> None:
    assert typed(talk, "set", "default")[0] == 0
    assert typed(talk, "set", "acceptEdits") == (
        0,
        "KEY Plan mode is off. Claude Code's own mode changes only there: press Shift+Tab.",
    )
    assert typed(talk, "set", "plan")[0] == 0
    assert by(talk) == "command"
    assert typed(talk, "set", "acceptEdits")[0] == 0
    assert by(talk) == ""


def test_a_hold_that_cannot_be_read_counts_as_held_and_a_person_ends_it(talk: Talk) -> None:
    (talk.folder / "hold").write_text("{")
    code, said = typed(talk, "show")
    assert (code, said.startswith("Plan mode counts as on, and every call is refused")) == (0, True)
    assert typed(talk, "exit")[0] == 0
    assert by(talk) == ""


def test_of_several_conversations_none_is_guessed(talk: Talk, tmp_path: Path) -> None:
    with Talk(tmp_path) as other:
        other.prompt("plan it", mode="plan")
        code, said = typed(talk, "exit")
        assert (code, "2 conversations are open in this folder" in said) == (2, True)
        assert typed(talk, "enter", "--conversation", other.folder.name)[0] == 0
        assert (by(talk), by(other)) == ("mode", "command")


@pytest.mark.parametrize("key", ["1-2", "../..", ""])
def test_a_conversation_that_is_not_known_is_not_made(talk: Talk, key: str) -> None:
    before = sorted((talk.state / "conversations").iterdir())
    assert typed(talk, "enter", "--conversation", key)[0] == 3
    assert sorted((talk.state / "conversations").iterdir()) == before
