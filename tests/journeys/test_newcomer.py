"""What a newcomer meets first: no commit, no plan file, a broken script, questions at a terminal."""

from __future__ import annotations

import os
import pty
import select
import shutil
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


def typed_in_a_shell(office: Office, line: str) -> None:
    named = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["sh", "-c", line], check=True, cwd=office.shop, env=office.environ | named)  # noqa: S607


def test_a_run_without_a_commit_is_refused_with_a_command_that_helps(office: Office) -> None:
    office.git("update-ref", "-d", "refs/heads/main")
    office.git("rm", "-rq", "--cached", ".")
    front = office.asbuilt()
    assert "shop   on main, no commit yet\n" in front
    first = 'git add -A && git commit -m "First commit"'
    assert nexts(front) == [first]
    refused = office.run("--finish", "--auto")
    assert code_of(refused) == 4
    assert refused.endswith(
        "error: there is no commit on main\n"
        "  Why:  Agents work in a checkout of what is committed.\n"
        f"  Next: {first}\n"
    )
    typed_in_a_shell(office, first)
    assert office.git("ls-files", "plans") == "plans/greet.md"
    assert "landed on main: 4 phases proven" in office.run("--finish", "--auto")


def named(office: Office) -> None:
    """Give git a name and an address for every repository."""
    user = "[user]\n\tname = Ann\n\temail = ann@example.com\n"
    (office.state.parent / "home/.gitconfig").write_text(user, encoding="utf-8")


def test_a_folder_without_git_becomes_a_repository_with_its_files_in_one_command(office: Office) -> None:
    named(office)
    shutil.rmtree(office.shop / ".git")
    (front,) = nexts(office.asbuilt())
    assert front == 'git init && git add -A && git commit -m "First commit"'
    assert nexts(office.asbuilt("doctor")) == [front]
    assert f"  Next: {front}" in office.run()
    typed_in_a_shell(office, front)
    assert office.git("ls-files") == "plans/greet.md"


def test_an_empty_folder_gets_an_empty_first_commit(office: Office) -> None:
    named(office)
    shutil.rmtree(office.shop)
    office.shop.mkdir()
    (first,) = nexts(office.asbuilt())
    assert first == 'git init && git add -A && git commit --allow-empty -m "First commit"'
    (office.shop / "inner/.git").mkdir(parents=True)
    assert nexts(office.asbuilt()) == ["asbuilt demo"]
    shutil.rmtree(office.shop / "inner")
    (office.shop / "mine.py").write_text("mine", encoding="utf-8")
    typed_in_a_shell(office, first)
    assert office.git("ls-files") == "mine.py"


def test_a_run_on_a_branch_without_files_names_the_files_that_no_agent_sees(office: Office) -> None:
    shutil.rmtree(office.shop / ".git")
    office.git("init", "-q", "-b", "main")
    office.git("config", "user.name", "Ann")
    office.git("config", "user.email", "ann@example.com")
    office.git("commit", "-q", "--allow-empty", "-m", "empty")
    assert "Base " not in office.run("1")
    (office.shop / "mine.py").write_text("mine", encoding="utf-8")
    told = "Base main has no files; not committed, so no agent sees them: mine.py "
    assert told in " ".join(office.run("2a").split())


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
    assert nexts(shown) == ["git checkout HEAD -- :/plans/greet.md"]
    typed_in_a_shell(office, nexts(shown)[0])
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


def test_a_verdict_that_asbuilt_rejects_is_asbuilts_finding(office: Office) -> None:
    verdict = '[[turn]]\nrole = "verify"\nacts = [{ say = "all good" }]\n'
    office.script.write_text(verdict + office.script.read_text(encoding="utf-8"), encoding="utf-8")
    office.run("1", "--auto")
    log = " ".join(office.asbuilt("log", "greet").split())
    assert "asbuilt rejects the verifier's verdict: the verdict: there is none, only words" in log
    assert "verifier says FAIL" not in log


def test_proven_work_lands_although_the_plans_file_is_gone(office: Office) -> None:
    office.run()
    office.git("rm", "-q", "plans/greet.md")
    office.git("commit", "-qm", "No plan")
    for shown in (office.asbuilt(), office.asbuilt("status"), office.asbuilt("status", "greet")):
        assert nexts(shown) == ["asbuilt land greet"]
        assert "  or  bring the file back: asbuilt plan open greet --restore\n" in shown
    assert "landed on main: 1 phase proven" in office.asbuilt("land", "greet")
    assert office.git("log", "--format=%s") == "Greet\nNo plan\nstart"
    assert "reverted on main" in office.asbuilt("land", "greet", "--undo")


def test_a_conflict_that_was_merged_by_hand_is_noticed_and_recorded_as_landed(office: Office) -> None:
    office.run("1")
    (office.shop / "greet.py").write_text("theirs\n", encoding="utf-8")
    office.git("add", "greet.py")
    office.git("commit", "-qm", "Theirs")
    refused = office.asbuilt("land", "greet")
    assert nexts(refused) == ["git switch main && git merge asbuilt/greet"]
    typed_in_a_shell(office, f"{nexts(refused)[0]} || git checkout --theirs . && git commit -qam Merged")
    merged = "Merged into main by hand; asbuilt has not proven it there yet.\n"
    for shown in (office.asbuilt(), office.asbuilt("status"), office.asbuilt("status", "greet")):
        assert nexts(shown) == ["asbuilt land greet"]
    assert merged in office.asbuilt("status", "greet")
    landed = office.asbuilt("land", "greet")
    assert "which had it already\n" in landed
    assert "landed on main: 1 phase proven" in landed
    assert nexts(office.asbuilt("status", "greet")) != ["asbuilt land greet"]
    assert "nothing to land: the target has all proven commits" in office.asbuilt("land", "greet")
