"""What a person types to get a plan, and what they see of it."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
import time

import pytest

from tests.authoring.desk import say, turn
from tests.authoring.outputs import HEY, QUESTIONS
from tests.journeys.test_commands import Office, office, until

__all__ = ["office"]
pytestmark = pytest.mark.crash


def test_a_second_authoring_in_a_checkout_is_refused_until_the_first_is_stopped(office: Office) -> None:
    office.script.write_text(turn("draft", say("I look around"), "{ hang = true }"), encoding="utf-8")
    wish = ("author", "call out", "--script", str(office.script))
    with office.typed(*wish) as first:
        until(lambda: "draft: planning" in office.asbuilt("status"))
        refused = office.asbuilt("author", "shout", "--script", str(office.script))
        assert "exit 4" in refused
        assert "a plan is being authored here already: call-out" in refused
        assert office.asbuilt("stop", "call-out").startswith("exit 0")
        first.communicate(timeout=120)
    assert first.returncode == 0
    assert not (office.shop / "plans" / "call-out.md").exists()


def test_the_same_words_again_go_on_with_an_authoring_that_was_stopped(office: Office) -> None:
    script = turn("draft", say(QUESTIONS), attempt=1) + turn("draft", say(HEY))
    office.script.write_text(script, encoding="utf-8")
    wish = ("author", "call out", "--script", str(office.script))
    assert "exit 5" in office.asbuilt(*wish)
    assert office.asbuilt("approve", "yes", "a1", "-m", "b").startswith("exit 0")
    assert office.asbuilt("stop", "call-out").startswith("exit 0")
    until(lambda: "a2" not in office.asbuilt("approve"))
    late = " ".join(office.asbuilt("approve", "yes", "a2").split())
    assert "a2 is not asked any more: its authoring is over. Nothing was answered." in late
    office.script.write_text(turn("draft", say(HEY)), encoding="utf-8")
    again = office.asbuilt(*wish)
    assert "Goes on with call-out.1: what was accepted and answered there is kept." in " ".join(again.split())
    assert "exit 5" in again
    waits = office.asbuilt("approve")
    assert "What without a name?" in waits
    assert "Which greeting?" not in waits


def test_at_a_terminal_questions_and_the_plan_are_answered_right_there(office: Office) -> None:
    script = turn("draft", say(QUESTIONS), attempt=1) + turn("draft", say(HEY))
    office.script.write_text(script, encoding="utf-8")
    typed = ("author", "call out to whoever runs it", "--name", "hey", "--script", str(office.script))
    code, seen = _answered(office, typed, [("asks a1", "b"), ("asks a2", "a"), ("y approve", "y")])
    assert code == 0
    assert "a  hello" in seen
    assert "plans/hey.md is written, not committed" in " ".join(seen.split())
    assert (office.shop / "plans" / "hey.md").read_text(encoding="utf-8").endswith(HEY)
    assert "hey.1 has written a plan, and no run of it has begun" in office.asbuilt("report", "hey")


def _answered(office: Office, typed: tuple[str, ...], answers: list[tuple[str, str]]) -> tuple[int, str]:
    """Type a command at a terminal, and each answer once its question and a prompt were seen."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 100))
    process = subprocess.Popen(
        [sys.executable, "-m", "asbuilt", *typed],
        cwd=office.shop,
        env={**office.environ, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen, start, left = "", 0, list(answers)
    end = time.monotonic() + 120
    while time.monotonic() < end and select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 65_536)
        except OSError:
            break
        seen += piece.decode("utf-8", "replace")
        at = seen.find(left[0][0], start) if left else -1
        if at >= 0 and ">" in seen[at:]:
            start = len(seen)
            os.write(ours, f"{left.pop(0)[1]}\n".encode())
    os.close(ours)
    return process.wait(60), seen
