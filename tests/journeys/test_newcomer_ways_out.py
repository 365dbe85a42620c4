"""No circle for a newcomer: partial landings, lost plan files, names of questions, plain endings."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from asbuilt.journal.engine.liveness import holder
from tests.journeys.shop import SCRIPT
from tests.journeys.test_commands import office, until
from tests.journeys.test_next_steps import code_of, nexts

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office

__all__ = ["office"]
pytestmark = pytest.mark.crash


def test_after_a_partial_landing_the_next_command_runs_the_plan(office: Office) -> None:
    nothing = office.run("--hold")
    assert "1 of 4 phases proven, not landed" in nothing
    assert "greet   held, 1 of 4 phases proven, not landed, next 2a\n" in office.asbuilt("status", "greet")
    landed = office.asbuilt("approve", "yes", "greet")
    assert "landed on main: 1 phase proven" in landed
    for shown in (landed, office.asbuilt("status", "greet"), office.asbuilt("status"), office.asbuilt()):
        assert nexts(shown) == ["asbuilt run greet"]
        assert "  or  read the report: asbuilt report greet.2\n" in shown


def test_an_untracked_plan_that_was_deleted_is_written_back_from_the_journal(office: Office) -> None:
    office.git("rm", "-q", "--cached", "plans/greet.md")
    office.git("commit", "-qm", "untracked")
    office.script.write_text('[[turn]]\nacts = [{ say = "done" }]\n', encoding="utf-8")
    failed = office.run()
    assert '  or  with a note for the agent: asbuilt run greet -m "what to do differently"\n' in failed
    plan = office.shop / "plans/greet.md"
    text = plan.read_bytes()
    plan.unlink()
    back = "asbuilt plan open greet --restore"
    for shown in (office.asbuilt("status", "greet"), office.asbuilt()):
        assert nexts(shown) == [back]
    noted = office.asbuilt("run", "greet", "-m", "another way")
    refused = (noted, office.asbuilt("run", "greet"), office.asbuilt("land", "greet"))
    assert [code_of(shown) for shown in refused] == [3, 3, 4]
    assert all(shown.endswith(f"  Next: {back}\n") for shown in refused)
    assert "error: the plan's file plans/greet.md is gone\n" in refused[1]
    restored = office.asbuilt(*back.split()[1:])
    assert "Wrote plans/greet.md, as its last run had it.\n" in restored
    assert plan.read_bytes() == text
    assert nexts(restored) == ["asbuilt status greet"]
    plan.write_bytes(b"mine")
    assert "exists; nothing was written" in office.asbuilt(*back.split()[1:])
    assert plan.read_bytes() == b"mine"


def test_a_run_that_was_stopped_without_its_plan_file_names_the_way_back(office: Office) -> None:
    office.script.write_text(SCRIPT.replace("acts = [", "acts = [{ limit = 3600 }, ", 1), encoding="utf-8")
    assert code_of(office.run("--detach")) == 0
    until(lambda: "parked" in office.asbuilt("status", "greet"))
    (office.shop / "plans/greet.md").unlink()
    assert nexts(office.asbuilt("stop", "greet")) == ["git checkout HEAD -- :/plans/greet.md"]


def test_a_run_whose_plan_file_is_renamed_says_so_and_names_no_path_that_was_typed(office: Office) -> None:
    assert code_of(office.run("--finish")) == 5
    (office.shop / "plans/greet.md").rename(office.shop / "plans/hello.md")
    office.asbuilt("approve", "yes", "a1")
    until(lambda: "Failed" in office.asbuilt("status", "greet"))
    status = office.asbuilt("status", "greet")
    assert "the plan's file plans/greet.md is gone. Why: It was moved or deleted" in " ".join(status.split())
    assert "exactly as written" not in status
    (office.shop / "plans/hello.md").rename(office.shop / "plans/greet.md")
    for shown in (office.asbuilt("status", "greet"), office.asbuilt()):
        assert nexts(shown) == ["asbuilt run greet"]


def test_a_question_is_answered_by_the_name_of_its_plan_and_a_no_keeps_what_is_proven(office: Office) -> None:
    shown = office.run("--finish")
    assert code_of(shown) == 5
    said = office.asbuilt("approve", "no", "greet")
    assert code_of(said) == 0
    until(lambda: "stopped" in office.asbuilt("status", "greet"))
    assert "stopped, 1 of 4 phases proven, not landed, next 2a\n" in office.asbuilt("status", "greet")
    nobody = office.asbuilt("approve", "yes", "greet")
    assert "greet is not the name of a question" in nobody


def test_an_undo_of_held_work_and_a_landing_of_nothing_are_told_once(office: Office) -> None:
    office.run()
    undone = office.asbuilt("land", "greet", "--undo")
    assert undone.count("UNDONE") == 1
    (office.shop / "plans/greet.md").unlink()
    back = "git checkout HEAD -- :/plans/greet.md"
    for words in (("run", "greet"), ("plan", "check", "greet")):
        assert office.asbuilt(*words).endswith(f"  Next: {back}\n")
    office.git("-C", "plans", *back.split()[1:])
    nothing = office.asbuilt("land", "greet")
    assert code_of(nothing) == 4
    assert "error: nothing to land: no phase is proven\n" in nothing
    assert nothing.count("Next:") == 1


def test_without_a_branch_the_first_step_is_to_check_one_out_also_before_any_run(office: Office) -> None:
    office.git("checkout", "-q", "--detach")
    switch = ["git switch main # no branch is checked out here"]
    assert nexts(office.asbuilt()) == switch
    assert nexts(office.asbuilt("status", "greet")) == switch
    office.git("branch", "other")
    assert nexts(office.asbuilt()) == ["git branch --list # no branch is checked out here"]


def test_a_run_without_a_worker_is_cut_off_in_the_header_too(office: Office) -> None:
    office.script.write_text(
        SCRIPT.replace("acts = [", 'acts = [{ run = "sleep 600" }, ', 1), encoding="utf-8"
    )
    office.run("--detach")
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    pid = holder(office.state / "worker.lock")
    assert pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: not holder(office.state / "worker.lock"))
    shown = office.asbuilt("status", "greet")
    assert "greet   cut off, 0 of 4 phases done (0%)\n" in shown
    assert "cut off, implementing" in shown


def test_a_phase_that_was_undone_and_fails_its_verification_is_run_again(office: Office) -> None:
    assert office.run("--auto").startswith("exit 0")
    assert office.asbuilt("land", "greet", "--undo").startswith("exit 0")
    for failed in (office.asbuilt("verify", "greet", "1"), office.asbuilt("status", "greet")):
        assert failed.endswith("Next: asbuilt run greet\n")
