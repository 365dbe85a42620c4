"""What a person types to get a plan, and what they see of it."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time

import pytest

from asbuilt.agents.attempt_folder import Folder
from asbuilt.journal.engine.liveness import holder
from tests.authoring.desk import say, turn
from tests.authoring.outputs import HEY, QUESTIONS
from tests.journeys.test_commands import Office, office, until
from tests.journeys.test_next_steps import nexts

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
    assert first.returncode == 5
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
    assert "a2 was withdrawn: its run is over. Nothing was answered." in late
    office.script.write_text(turn("draft", say(HEY)), encoding="utf-8")
    again = office.asbuilt(*wish)
    assert "Continues call-out.1; its accepted outputs and your answers are reused." in " ".join(
        again.split()
    )
    assert "exit 5" in again
    waits = office.asbuilt("approve")
    assert "What without a name?" in waits
    assert "Which greeting?" not in waits


def test_status_and_cancel_know_an_authoring_by_a_worker_and_scripts_read_them(office: Office) -> None:
    assert json.loads(office.asbuilt("author", "status", "--json").partition("--- stdout\n")[2]) == {
        "schema": "asbuilt.authoring/1",
        "active": False,
    }
    office.script.write_text(turn("draft", say(QUESTIONS), attempt=1), encoding="utf-8")
    wish = ("author", "call out", "--explorers", "10", "--script", str(office.script))
    assert "exit 5" in office.asbuilt(*wish)
    shown = office.asbuilt("author", "status")
    assert "call-out   [1/1] draft\nwaits   for your answer to a1 and a2\n" in shown
    assert nexts(shown) == ["asbuilt approve show a1"]
    told = json.loads(office.asbuilt("author", "status", "--json").partition("--- stdout\n")[2])
    names = (
        "active", "run", "mode", "phase", "phase_index", "phases", "questions", "completion_promise",
        "block_tools",
    )  # fmt: skip
    assert [told[name] for name in names] == [
        True, "call-out.1", "light", "draft", 0, ["draft"], ["a1", "a2"], "PLAN_OK", True,
    ]  # fmt: skip
    cancelled = json.loads(office.asbuilt("author", "cancel", "--json").partition("--- stdout\n")[2])
    assert (cancelled["cancelled"], cancelled["place"]) == ("plans/call-out.md", "[1/1] draft")
    until(lambda: "No plan is being authored here." in office.asbuilt("author", "status"))
    assert "There is nothing to cancel." in office.asbuilt("author", "cancel")
    assert ", its text is kept\n" in (listed := office.asbuilt("log", "call-out", "--attempts"))
    assert ("plan, asks " in listed, "not judged" in listed) == (True, False)
    assert "Which greeting?" in office.asbuilt("log", "call-out.1.draft.1", "--patch")
    no_files = office.asbuilt("log", "call-out.1.draft.1", "--restore", "kept")
    assert "no files are kept of call-out.1.draft.1" in no_files
    assert "asbuilt log call-out.1.draft.1 --patch" in no_files


def test_status_and_cancel_say_that_a_finished_draft_waits_for_approval(office: Office) -> None:
    office.script.write_text(turn("draft", say(HEY)), encoding="utf-8")
    assert "exit 5" in office.asbuilt("author", "call out", "--script", str(office.script))
    shown = office.asbuilt("author", "status")
    assert "call-out   The draft waits for your approval (a1).\n" in shown
    state = json.loads(office.asbuilt("author", "status", "--json").partition("--- stdout\n")[2])
    names = ("phase", "phase_index", "phases", "place")
    assert [state[name] for name in names] == ["approval", 0, ["draft"], "approval"]
    assert "Cancelled at approval. Accepted outputs are kept.\n" in office.asbuilt("author", "cancel")


def test_settings_choose_mode_agents_floors_and_template_of_an_authoring(office: Office) -> None:
    form = office.shop / "form.md"
    form.write_text("# {title}\n\n## Why\n\nOne line.\n\n## Phase {number} — {name}\n\n### Verification\n")
    for key, value in (
        ("plan.template", "form.md"),
        ("author.mode", "standard"),
        ("author.explorers", "3"),
        ("author.needs_files", "1"),
        ("author.asks_files", "7"),
    ):
        assert office.asbuilt("config", "set", key, value).startswith("exit 0")
    reads = [
        turn(
            name,
            say("`plans/greet.md` lists greetings of another plan, whose first phase wants the same file."),
        )
        for name in ("explore", "explore-2", "explore-3")
    ]
    plan = f"# Call out\n\n## Why\nNobody hears us.\n\n## Phase 1{HEY.partition('## Phase 1')[2]}"
    office.script.write_text("".join([*reads, turn("draft", say(plan))]), encoding="utf-8")
    told = office.asbuilt("author", "call out", "--name", "hey", "--script", str(office.script))
    assert "exit 5" in told
    assert "approve show a1" in told
    folders = sorted(office.state.glob("runs/*/attempts/*"))
    briefs = {one.phase: one for one in (Folder(folder).brief()[0] for folder in folders)}
    asks = {name: one.ask for name, one in briefs.items()}
    assert "at least 7 files" in asks["explore"]
    assert len({asks["explore"], asks["explore-2"], asks["explore-3"]}) == 3
    assert "these headings and\nsomething of your own under each: Why." in asks["draft"]
    assert "Keep the form of the block `template`" in asks["draft"]
    assert dict(briefs["draft"].told)["template"] == form.read_text()


def test_for_a_trivial_change_the_user_is_asked_whether_a_plan_is_needed(office: Office) -> None:
    office.script.write_text(turn("draft", say(HEY)), encoding="utf-8")
    typed = ("author", "fix the typo in plans/greet.md", "--name", "hey", "--script", str(office.script))
    code, seen = _answered(office, typed, [("Author a plan anyway? [y/N]", "n")])
    assert code == 0
    assert "small change of plans/greet.md" in " ".join(seen.split())
    assert "No plan is being authored here." in office.asbuilt("author", "status")
    # Without a terminal the command goes on, and says so; with a named mode nothing is asked.
    assert "small change of plans/greet.md" in " ".join(office.asbuilt(*typed).split())
    assert "a1" in office.asbuilt("approve")


def test_a_profile_decides_whether_a_plan_is_needed_and_how_soon_it_takes_the_longer_mode(
    office: Office,
) -> None:
    words = (
        "add a delete button to web/list.tsx",
        "rename the module and every import of it in src/app.py and src/limits.py",
    )
    office.script.write_text(turn("draft", say(QUESTIONS)), encoding="utf-8")
    seen = []
    for profile in ("expedient", "protective"):
        office.environ["ASBUILT_AUTHOR_PROFILE"] = profile
        for number, wish in enumerate(words):
            name = f"{profile}-{number}"
            said = office.asbuilt("author", wish, "--name", name, "--script", str(office.script))
            found = re.search(r"^(Light|Standard): ", said, re.MULTILINE)
            seen.append(("small change of web/list.tsx" in " ".join(said.split()), found and found[1]))
            office.asbuilt("author", "cancel")
            until(lambda: "No plan is being authored" in office.asbuilt("author", "status"))
    assert seen == [(True, "Light"), (False, "Light"), (False, "Light"), (False, "Standard")]


def test_at_a_terminal_questions_and_the_plan_are_answered_right_there(office: Office) -> None:
    script = turn("draft", say(QUESTIONS), attempt=1) + turn("draft", say(HEY))
    office.script.write_text(script, encoding="utf-8")
    typed = ("author", "call out to whoever runs it", "--name", "hey", "--script", str(office.script))
    code, seen = _answered(office, typed, [("asks a1", "b"), ("asks a2", "a"), ("y approve", "y")])
    assert code == 0
    assert "a  hello" in seen
    assert "wrote plans/hey.md, not committed" in " ".join(seen.split())
    assert (office.shop / "plans" / "hey.md").read_text(encoding="utf-8").endswith(HEY)
    assert "hey has not run yet: hey.1 wrote the plan" in office.asbuilt("report", "hey")


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
        if at >= 0 and (">" in seen[at:] or left[0][0].endswith("]")):
            start = len(seen)
            os.write(ours, f"{left.pop(0)[1]}\n".encode())
    os.close(ours)
    return process.wait(60), seen


def test_after_a_kill_every_next_command_continues_the_session_with_its_answers(office: Office) -> None:
    script = turn("draft", say(QUESTIONS), attempt=1) + turn("draft", say(HEY))
    office.script.write_text(script, encoding="utf-8")
    assert "exit 5" in office.asbuilt("author", "Größe", "grüßen", "--script", str(office.script))
    assert nexts(office.asbuilt("author", "status")) == ["asbuilt approve show a1"]
    office.asbuilt("approve", "yes", "a1", "-m", "b")
    end_worker(office)
    assert nexts(office.asbuilt()) == nexts(office.asbuilt("author", "status")) == ["asbuilt approve show a2"]
    answered = office.asbuilt("approve", "yes", "a2", "-m", "b")
    assert nexts(answered) == ["asbuilt watch groesse-gruessen"]
    assert "a3" in office.asbuilt("watch", "groesse-gruessen")
    status = office.asbuilt("author", "status")
    assert "The draft waits for your approval (a3)." in status
    assert nexts(status) == ["asbuilt approve show a3"]


def test_a_session_that_was_cut_off_at_work_is_continued_by_its_next_command(office: Office) -> None:
    office.script.write_text(turn("draft", say("I look"), "{ hang = true }"), encoding="utf-8")
    wish = ("author", "call out", "--script", str(office.script))
    with office.typed(*wish) as first:
        until(lambda: "draft: planning" in office.asbuilt("status"))
        first.kill()
        first.communicate(timeout=60)
        end_worker(office)
    for shown in (office.asbuilt(), office.asbuilt("author", "status"), office.asbuilt(*wish)):
        assert nexts(shown) == ["asbuilt run call-out"]
    office.asbuilt("stop", "call-out")


def end_worker(office: Office) -> None:
    """End the office's worker as a power cut would."""
    os.kill(holder(office.state / "worker.lock") or 0, signal.SIGKILL)
    until(lambda: holder(office.state / "worker.lock") is None)


def test_after_an_authoring_that_gave_up_land_names_the_command_that_starts_it_again(office: Office) -> None:
    office.script.write_text(turn("draft", say("no plan")), encoding="utf-8")
    wish = ("author", "call out", "--light", "--attempts", "1", "--script", str(office.script))
    assert nexts(office.asbuilt(*wish))[0] == "asbuilt run call-out"
    refused = office.asbuilt("land", "call-out")
    assert "error: nothing to land: no phase is proven" in refused
    assert nexts(refused)[0] == "asbuilt run call-out"
