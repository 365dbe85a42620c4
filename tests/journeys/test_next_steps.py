"""Every ending, wait and refusal prints one next command, and that command works when it is typed."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.authoring.desk import say, turn
from tests.authoring.outputs import HEY
from tests.cli.conftest import without_agents
from tests.journeys.shop import PLAN, SCRIPT
from tests.journeys.test_commands import Office, office, until
from tests.tasks.bench import result

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["office"]
pytestmark = pytest.mark.crash
REFUSED = (2, 3, 70)
"""Exit codes of a command that cannot be typed: wrong usage, a name that does not exist, a bug."""
LIMITED = SCRIPT.replace("acts = [", "acts = [{ limit = 3600 }, ", 1)
FAILING = SCRIPT.replace("print('hello')", "print('bye')")
WRONG_FIX = (
    '[[turn]]\nphase = "1"\nrole = "fix"\nacts = [{ write = "greet.py", text = "no" }, { say = "done" }]\n'
)


FAILING_2A = SCRIPT.replace("goodbye", "farewell")
HEY_DONE = """
[[turn]]
phase = "1"
role = "implement"
acts = [{ write = "hey.py", text = "print('HEY')\\n" }, { say = "done" }]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""


@pytest.fixture
def alone(office: Office) -> Office:
    """Take every agent away but the one that a command names."""
    del office.environ["ASBUILT_AGENTS_IMPLEMENT"]
    office.environ["PATH"] = without_agents(office.environ["PATH"])
    return office


class Walk:
    """What a person sees who types only what is printed after `Next:`."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.typed: list[str] = []

    def type(self, command: str) -> str:
        """Type a command as it was printed; a run keeps the script that it was asked with."""
        shown = ""
        for part in command.split(" && "):
            program, *words = shlex.split(part, comments=True)
            assert program == "asbuilt", command
            assert not any(word.endswith((",", ";")) for word in words), f"prose behind a command: {command}"
            shown = self.office.asbuilt(*words)
            assert code_of(shown) not in REFUSED, f"{part}\n{shown}"
        self.typed.append(command)
        return shown

    def follow(self, shown: str) -> str:
        """Type the next command that a screen prints; there has to be exactly one."""
        (command,) = nexts(shown)
        return self.type(command)

    def alternative(self, shown: str) -> str:
        """Type the alternative of a screen, which is on one line behind `or`."""
        (line,) = [line for line in _joined(shown) if line.startswith("or  ")]
        return self.type(line[line.index("asbuilt ") :])


def _joined(shown: str) -> Sequence[str]:
    """Return the lines of the answer and of the hints; a wrapped line is joined to its first one."""
    lines: list[str] = []
    for line in shown.splitlines():
        if line.startswith("      ") and lines and lines[-1].startswith(("Next: ", "or  ")):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line.strip() if line.strip().startswith(("Next: ", "or  ")) else line)
    return lines


def nexts(shown: str) -> list[str]:
    return [line.removeprefix("Next: ") for line in _joined(shown) if line.startswith("Next: ")]


def code_of(shown: str) -> int:
    return int(shown.splitlines()[0].removeprefix("exit "))


def test_a_held_run_counts_the_phases_that_earlier_runs_proved(office: Office) -> None:
    assert "greet.1: 1 of 4 phases proven, not landed." in office.run()
    assert "greet.2: 2 of 4 phases proven, not landed." in office.run()


def test_after_one_phase_what_is_printed_leads_to_a_landing_and_back(office: Office) -> None:
    walk = Walk(office)
    assert nexts(office.asbuilt()) != []
    first = office.run()
    assert "1 of 4 phases proven, not landed." in first
    assert nexts(first) == ["asbuilt run greet --finish"]
    assert code_of(walk.follow(office.asbuilt("status"))) in (0, 5)
    shown = office.asbuilt("status", "greet")
    while "landed on main" not in shown:
        assert len(walk.typed) < 20
        if "held" in shown and "4 of 4" in shown:
            # The inbox lists the landing, and its next command lands.
            inbox = walk.type("asbuilt approve")
            assert "landing" in inbox
            shown = walk.follow(inbox)
            continue
        shown = walk.follow(shown)
        if "landed on main" not in shown:
            shown = office.asbuilt("status", "greet")
    walk.follow(shown)
    undone = office.asbuilt("land", "greet", "--undo")
    assert "reverted on main; the plan is open again" in undone
    assert nexts(undone) == ["asbuilt run greet"]
    walk.follow(undone)


def test_a_run_that_fails_is_stopped_or_declined_names_what_continues_it(office: Office) -> None:
    walk = Walk(office)
    office.script.write_text(FAILING + WRONG_FIX * 3, encoding="utf-8")
    failed = office.run("--finish", "--auto")
    assert code_of(failed) == 1
    assert nexts(failed) == nexts(office.asbuilt("status", "greet")) == ["asbuilt run greet"]
    walk.alternative(failed)
    office.script.write_text(
        SCRIPT.replace("acts = [", 'acts = [{ run = "sleep 600" }, ', 1), encoding="utf-8"
    )
    detached = office.run("--finish", "--auto", "--detach")
    assert code_of(detached) == 0
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    declined = office.run()
    assert "Declined" in declined
    assert nexts(declined) == ["asbuilt watch greet"]
    stopped = walk.alternative(declined)
    assert nexts(stopped) == ["asbuilt run greet"]
    over = office.asbuilt("stop", "greet")
    walk.follow(over)
    office.script.write_text(SCRIPT, encoding="utf-8")
    assert "landed on main" in walk.follow(stopped)


def test_a_run_continues_with_the_agent_and_the_script_that_it_was_asked_with(alone: Office) -> None:
    walk = Walk(alone)
    kept = "Agent    scripted with script.toml, as in greet.{}\n"
    first = alone.run("--agent", "scripted")
    assert nexts(first) == ["asbuilt run greet --finish"]
    alone.script.write_text(FAILING_2A, encoding="utf-8")
    failed = walk.follow(first)
    assert kept.format(1) in failed
    assert (code_of(failed), nexts(failed)) == (1, ["asbuilt run greet"])
    alone.script.write_text(SCRIPT, encoding="utf-8")
    again = walk.follow(failed)
    assert kept.format(2) in again
    # The phase that failed is proven; whether the next one starts is a question.
    assert (code_of(again), nexts(again)) == (5, ["asbuilt approve yes a1"])
    alone.asbuilt("stop", "greet")
    # Another agent is a choice of the user's, and one that is not there is not replaced by the last one.
    assert "agent claude is not installed" in alone.asbuilt("run", "greet", "--agent", "claude")
    alone.script.unlink()
    assert "the scripted agent needs a script" in alone.asbuilt("run", "greet", "--dry-run")


def test_a_plan_that_a_script_has_written_is_run_by_it_as_its_next_command_says(alone: Office) -> None:
    walk = Walk(alone)
    by_script = ("--agent", "scripted", "--script", str(alone.script))
    alone.script.write_text(turn("draft", say(HEY)) + HEY_DONE, encoding="utf-8")
    approved = alone.asbuilt("approve", "yes", nexts(alone.asbuilt("author", "call out", *by_script))[0][-2:])
    assert nexts(approved) == ["asbuilt run call-out"]
    until((alone.shop / "plans" / "call-out.md").is_file)
    assert "1 phase proven, not landed" in walk.follow(approved)
    added = alone.asbuilt("task", "add", "say hello")
    assert nexts(added) == ["asbuilt doctor agents"]
    walk.follow(added)
    alone.script.write_text(turn("plan", say(result())), encoding="utf-8")
    planned = alone.asbuilt("task", "plan", "1", *by_script)
    assert nexts(planned) == ["asbuilt run 01-say-hello --finish --auto"]
    walk.follow(planned)


def test_an_authoring_that_is_given_up_names_what_starts_it_again(alone: Office) -> None:
    walk = Walk(alone)
    alone.script.write_text(turn("draft", say("no plan")), encoding="utf-8")
    by_script = ("--agent", "scripted", "--script", str(alone.script))
    failed = alone.asbuilt("author", "call out", *by_script)
    assert nexts(failed) == nexts(alone.asbuilt("status", "call-out")) == ["asbuilt run call-out"]
    walk.alternative(failed)
    alone.script.write_text(turn("draft", say(HEY)), encoding="utf-8")
    assert nexts(walk.follow(failed)) == ["asbuilt approve show a1"]


def test_a_run_of_a_complete_plan_says_so_and_starts_nothing(office: Office) -> None:
    walk = Walk(office)
    assert "landed on main" in office.run("--finish", "--auto")
    for more in ((), ("--finish", "--auto"), ("--every", "4h"), ("--dry-run",)):
        shown = office.asbuilt("run", "greet", *more)
        assert shown.startswith("exit 0\n")
        assert "greet   the plan is already complete. Nothing was started.\n" in shown
        assert nexts(shown) == ["asbuilt report greet"]
    walk.follow(office.asbuilt("run", "greet"))
    one = office.asbuilt("run", "greet", "1")
    assert "greet   phase 1 is already done. Nothing was started.\n" in one
    assert "greet.2" not in office.asbuilt("log", "greet")
    assert "PASS" in walk.alternative(one)


def test_a_program_that_the_machine_lacks_is_the_users_matter_and_costs_no_fix(
    office: Office, tmp_path: Path
) -> None:
    (tools := tmp_path / "tools").mkdir()
    office.environ["PATH"] += f":{tools}"
    plan = office.shop / "plans" / "greet.md"
    plan.write_text(PLAN.replace("grep -q hello greet.py", "greetlint greet.py"), encoding="utf-8")
    office.git("commit", "-qam", "lint")
    parked = office.run()
    assert code_of(parked) == 5
    why = "the program greetlint is not installed on this machine; install it first"
    assert why in " ".join(parked.split())
    assert "FIX" not in parked
    linter = tools / "greetlint"
    linter.write_text("#!/bin/sh\n", encoding="utf-8")
    linter.chmod(0o755)
    walk = Walk(office)
    walk.follow(walk.follow(parked))
    assert "1 of 4 phases proven" in office.asbuilt("status", "greet")


def test_a_program_that_the_phase_is_to_make_is_the_agents_matter(office: Office) -> None:
    plan = office.shop / "plans" / "greet.md"
    text = PLAN.replace("`greet.py` says hello", "`greetlint` says hello", 1)
    plan.write_text(text.replace("grep -q hello greet.py", "greetlint greet.py"), encoding="utf-8")
    office.git("commit", "-qam", "lint")
    failed = office.run("--auto")
    assert code_of(failed) == 1
    assert "phase 1 is not proven after 2 fixes" in " ".join(failed.split())


def test_a_plan_that_no_agent_here_can_run_names_no_run(alone: Office) -> None:
    walk = Walk(alone)
    checked = alone.asbuilt("plan", "check", "greet")
    assert nexts(checked) == ["asbuilt doctor agents"]
    walk.follow(checked)
    alone.script.write_text(
        turn("refine", say(PLAN.replace("says goodbye", "waves goodbye"))), encoding="utf-8"
    )
    asked = alone.asbuilt(
        "plan", "refine", "greet", "-m", "wave", "--agent", "scripted", "--script", str(alone.script)
    )
    shown = walk.follow(asked)
    approved = walk.follow(shown)
    assert nexts(approved) == ["asbuilt doctor agents"]
    walk.follow(approved)


def test_a_run_that_parks_returns_5_and_continues_when_it_is_told_to(office: Office) -> None:
    walk = Walk(office)
    office.script.write_text(LIMITED, encoding="utf-8")
    parked = office.run("--finish", "--auto")
    assert code_of(parked) == 5
    assert "Parked" in parked
    assert nexts(parked) == ["asbuilt watch greet"]
    # The run is open: following it again returns when it is parked.
    assert code_of(walk.follow(parked)) == 5
    assert code_of(walk.follow(office.asbuilt("status", "greet"))) == 5
    paused = office.asbuilt("stop", "greet", "--pause")
    assert "Paused" in paused
    assert nexts(paused) == ["asbuilt run greet"]
    walk.alternative(paused)
    assert nexts(office.asbuilt("status", "greet")) == ["asbuilt run greet"]


@pytest.mark.parametrize(
    "typed",
    [
        "status", "status greet", "status gret", "watch", "watch greet", "stop --all", "stop",
        "stop greet --pause", "land greet", "land greet --undo", "report", "report greet", "log greet", "log",
        "log --attempts", "approve", "approve --all", "approve yes a1", "run", "run gret", "clean",
        "plan list", "plan check gret", "plan check", "plan check greet", "doctor", "doctor agents",
        "statsu", "run greet --finish --every 4h",
        "verify greet",
    ],
)  # fmt: skip
def test_before_the_first_run_every_answer_and_refusal_names_a_command_that_works(
    office: Office, typed: str
) -> None:
    shown = office.asbuilt(*typed.split())
    assert code_of(shown) != 70
    found = [line for line in nexts(shown) if line.startswith("asbuilt ")]
    assert len(found) <= 1
    for line in found:
        words = shlex.split(line, comments=True)[1:]
        if words[:1] == ["run"] and len(words) > 1:
            words.append("--dry-run")
            words += ["--script", str(office.script)]
        if words[:2] == ["author", "what you want to build"]:
            continue
        assert code_of(office.asbuilt(*words)) not in REFUSED, (typed, line)


def test_without_a_branch_the_next_command_is_the_one_that_checks_it_out(office: Office) -> None:
    assert nexts(office.run()) == ["asbuilt run greet --finish"]
    office.git("checkout", "-q", "--detach")
    switch = "git switch main # no branch is checked out here"
    assert nexts(office.asbuilt("status", "greet")) == nexts(office.asbuilt()) == [switch]
    refused = office.run("--finish")
    assert (code_of(refused), nexts(refused)) == (4, ["git switch main # then run again"])
    office.git("switch", "-q", "main")
    assert nexts(office.asbuilt("status", "greet")) == ["asbuilt run greet --finish"]


@pytest.mark.parametrize("typed", ["status greet", "plan check greet", "task add hello", "run greet"])
def test_without_a_commit_the_next_command_is_the_one_that_makes_it(office: Office, typed: str) -> None:
    office.git("update-ref", "-d", "HEAD")
    assert nexts(office.asbuilt(*typed.split())) == ['git add -A && git commit -m "First commit"']


@pytest.mark.parametrize("typed", ["stop greet"])
def test_outside_of_a_repository_no_run_is_the_next_command(
    office: Office, tmp_path: Path, typed: str
) -> None:
    office.shop.rename(tmp_path / "elsewhere")
    (office.shop / "plans").mkdir(parents=True)
    (office.shop / "plans" / "greet.md").write_text(PLAN, encoding="utf-8")
    refused = office.asbuilt(*typed.split())
    assert nexts(refused) == ['asbuilt plan new "what you want" --user']


def test_a_run_that_could_open_no_pull_request_is_refused_before_an_agent_works(office: Office) -> None:
    for more in ((), ("--dry-run",)):
        refused = office.run("--finish", "--pr", *more)
        assert refused.startswith("exit 1\n")
        assert "error: this repository has no remote origin\n" in refused
    assert not [*office.state.glob("runs/*")]


def test_a_question_about_tests_is_withdrawn_once_a_later_run_has_its_tests(office: Office) -> None:
    (office.shop / "tests").mkdir()
    test = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
    (office.shop / "tests" / "test_a.py").write_text(test, encoding="utf-8")
    office.git("add", ".")
    office.git("commit", "-qm", "a test")
    assert nexts(office.run()) == ["asbuilt approve yes a1"]
    office.asbuilt("stop", "greet")
    # A yes would count in the next run.
    assert nexts(office.asbuilt("approve")) == ["asbuilt approve yes a1"]
    office.asbuilt("config", "set", "checks.tests", "python3 -m unittest discover -s tests")
    assert "not landed" in office.run()
    assert "a1" not in office.asbuilt("approve")
    withdrawn = office.asbuilt("approve", "yes", "a1")
    assert "a1 was withdrawn" in withdrawn
    assert nexts(withdrawn) == ["asbuilt run greet"]


def test_where_nothing_waits_the_lists_of_all_repositories_do_not_name_each_other(office: Office) -> None:
    walk = Walk(office)
    office.run()
    listed = office.asbuilt("approve", "--all")
    assert ("Nothing waits for you." in listed, nexts(listed)) == (True, ["asbuilt status --all"])
    status = walk.follow(listed)
    assert nexts(status) == nexts(office.asbuilt("status", "greet")) == ["asbuilt run greet --finish"]
    here, office.shop = office.shop, office.shop.parent
    everywhere = office.asbuilt("status", "--all")
    assert f"Next: cd {here} && asbuilt status" in " ".join(everywhere.split())
    office.shop = here


def test_a_yes_after_the_end_of_its_run_names_the_run_in_which_it_counts(office: Office) -> None:
    fix = WRONG_FIX.replace(
        '{ write = "greet.py", text = "no" }', '{ append = "greet.py", text = "# again\\n" }'
    )
    failing = SCRIPT.replace('{ verdict = "pass" }', '{ verdict = "fail", why = "it greets nobody" }')
    office.script.write_text(failing + fix * 2, encoding="utf-8")
    assert code_of(office.run("--auto")) == 1
    answered = office.asbuilt("approve", "a1", "yes, it greets next year")
    assert nexts(answered) == ["asbuilt run greet"]


def test_a_plan_with_errors_is_checked_before_it_is_run(office: Office) -> None:
    plan = office.shop / "plans" / "greet.md"
    plan.write_text(PLAN.replace("None.", "Phase 3.", 1), encoding="utf-8")
    for typed in (("status", "greet"), ("run", "greet")):
        assert nexts(office.asbuilt(*typed)) == ["asbuilt plan check greet"]


def test_a_plan_is_checked_while_its_run_waits_and_the_next_command_starts_no_other(office: Office) -> None:
    assert code_of(office.run("--finish")) == 5
    assert nexts(office.asbuilt("plan", "check", "greet")) == ["asbuilt status greet"]
