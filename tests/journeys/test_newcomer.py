"""What a newcomer meets first: no commit, no plan file, a broken script, questions at a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.journeys.test_commands import Office, office
from tests.journeys.test_next_steps import code_of, nexts

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["office"]
pytestmark = pytest.mark.crash


def at_a_terminal(office: Office, *words: str, typed: Sequence[tuple[str, str]], ahead: str = "") -> str:
    """Type `ahead` at once, then each answer behind the text that asks for it; Ctrl-C is an empty answer."""
    ours, theirs = pty.openpty()
    os.write(ours, ahead.encode())
    process = subprocess.Popen(
        [sys.executable, "-m", "asbuilt", *words], cwd=office.shop, env={**office.environ, "TERM": "dumb"},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    screen, left, end = "", list(typed), time.monotonic() + 300
    while time.monotonic() < end:
        if select.select([ours], [], [], 1)[0]:
            try:
                screen += os.read(ours, 4096).decode().replace("\r", "")
            except OSError:
                break
        elif left and screen.rstrip().endswith(left[0][0]):
            if left[0][1]:
                os.write(ours, left.pop(0)[1].encode())
            else:
                process.send_signal(signal.SIGINT)
    os.close(ours)
    return f"{screen}exit {process.wait(10)}\n"


def test_a_run_without_a_commit_is_refused_with_a_command_that_helps(office: Office) -> None:
    office.git("update-ref", "-d", "refs/heads/main")
    office.git("rm", "-rq", "--cached", ".")
    front = office.asbuilt()
    assert "shop   on main, no commit yet\n" in front
    assert nexts(front) == ["git commit --allow-empty -m start"]
    refused = office.run("--finish", "--auto")
    assert code_of(refused) == 4
    assert refused.endswith(
        "error: there is no commit on main\n"
        "  Why:  Agents work in a checkout of what is committed.\n"
        "  Next: git commit --allow-empty -m start\n"
    )
    office.git("commit", "--allow-empty", "-m", "start")
    assert "landed on main: 4 phases proven" in office.run("--finish", "--auto")


def test_a_report_names_what_was_found_and_counts_what_was_promised(office: Office) -> None:
    office.script.write_text('[[turn]]\nacts = [{ say = "done" }]\n', encoding="utf-8")
    office.run("--finish", "--auto")
    shown = office.asbuilt("report", "greet")
    assert "Proven: 0 of 1 item, 0 of 1 check. Not run: 1. Not started: phases 2a, 2b and" in shown
    assert "! phase 1: 2 fixes: The agent made no changes\n" in shown
    assert "! phase 1: not proven: The agent made no changes\n" in shown


def test_a_broken_script_is_refused_with_its_line_before_anything_starts(office: Office) -> None:
    office.script.write_text('[[turn]]\nrole = "nobody"\n', encoding="utf-8")
    refused = office.run()
    assert code_of(refused) == 2
    assert 'error: script.toml:1: "role" is one of implement, fix,' in refused
    assert nexts(office.asbuilt("status")) == ["asbuilt plan list"]


def test_status_of_a_plan_without_its_file_names_a_command_that_works(office: Office) -> None:
    office.script.write_text('[[turn]]\nacts = [{ say = "done" }]\n', encoding="utf-8")
    office.run()
    (office.shop / "plans/greet.md").unlink()
    shown = office.asbuilt("status", "greet")
    assert "The plan's file plans/greet.md is gone." in " ".join(shown.split())
    assert nexts(shown) == ["asbuilt plan list"]
    assert "  or  if git has it: git checkout HEAD -- plans/greet.md\n" in shown
    office.git("checkout", "HEAD", "--", "plans/greet.md")
    assert nexts(office.asbuilt("status", "greet")) == ["asbuilt run greet"]


def test_an_answer_that_is_none_is_named_and_a_no_prints_what_happened(office: Office) -> None:
    (office.shop / "asbuilt.toml").write_text('checks.tests = "none"\n', encoding="utf-8")
    run = ("run", "greet", "--script", str(office.script))
    shown = at_a_terminal(office, *run, typed=[("Run it? [Y/n]", "maybe\n"), ("Run it? [Y/n]", "n\n")])
    assert '"maybe" is no answer; type y or n.\n' in shown
    assert shown.endswith(
        "Nothing was started.\n"
        "Next: asbuilt run greet\n"
        "  or  read the plan: asbuilt plan show greet\n"
        "exit 0\n"
    )


def test_what_was_typed_before_a_question_answers_none_and_ctrl_c_ends_the_command(office: Office) -> None:
    (office.shop / "test_it.py").write_text("def test_it():\n    assert True\n", encoding="utf-8")
    office.git("add", "test_it.py")
    office.git("commit", "-qm", "A test")
    run = ("run", "greet", "--script", str(office.script))
    shown = at_a_terminal(office, *run, typed=[("/command/none]", "")], ahead="\n\n\n")
    assert "Run it?" not in shown
    assert shown.endswith("Interrupted.\nexit 130\n")
    assert not (office.shop / "asbuilt.toml").exists()
