"""A pause as a person types it: the same run goes on afterwards, whatever became of the worker meanwhile."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.journal.engine.liveness import holder
from tests.journeys.shop import SCRIPT
from tests.journeys.test_commands import Office, office, until
from tests.journeys.test_next_steps import nexts

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["office"]
pytestmark = pytest.mark.crash
GATED = SCRIPT.replace(
    'acts = [{ write = "greet.py"',
    'acts = [{ run = "while [ ! -e go ]; do sleep 0.1; done; rm go" }, { write = "greet.py"',
)


def _workspace(office: Office) -> Path:
    found = list(office.state.glob("workspaces/*/*/*.[0-9]"))
    assert len(found) == 1
    return found[0]


def test_a_pause_waits_for_the_attempt_and_the_same_run_goes_on(office: Office) -> None:
    office.script.write_text(GATED, encoding="utf-8")
    watched = office.typed("run", "greet", "--finish", "--auto", "--script", str(office.script))
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    assert office.asbuilt("stop", "--pause", "-m", "lunch") == snapshot("""\
exit 0
--- stdout
greet.1 pauses at its next safe point: after attempt 1 of phase 1.
--- stderr
Next: asbuilt status greet
""")
    assert office.asbuilt("stop", "--pause", "greet") == snapshot("""\
exit 0
--- stdout
greet.1 pauses at its next safe point: after attempt 1 of phase 1.
--- stderr
Next: asbuilt status greet
""")
    assert "Pauses after this attempt." in " ".join(office.asbuilt("status", "greet").split())
    assert office.asbuilt("log", "--attempts", "greet.1.1.1").splitlines()[:3] == snapshot(
        ["exit 3", "--- stderr", "error: nothing is kept of greet.1.1.1"]
    )
    (_workspace(office) / "go").touch()
    out, _ = watched.communicate(timeout=120)
    assert (watched.returncode, re.sub(r"\d+s", "[AGE]", out)) == snapshot(
        (5, "greet.1   Paused [AGE] ago: lunch. Claim and workspace are kept.\n")
    )
    worker = holder(office.state / "worker.lock")
    assert worker
    os.kill(worker, signal.SIGKILL)
    assert office.asbuilt("status", "greet") == snapshot("""\
exit 0
--- stdout
greet   paused, 0 of 4 phases done (0%)
◇ 1   Greet                      paused                     since [HH:MM]
○ 2a  Part                       needs 1
○ 2b  Shout                      needs 1
○ 3   Both                       needs 2a, 2b
Paused [AGE] ago: lunch. Claim and workspace are kept.
--- stderr
Next: asbuilt run greet
  or  end it: asbuilt stop greet
""")
    assert office.asbuilt("status") == snapshot("""\
exit 0
--- stdout
  PLAN          STATE                      PHASES  WAITS FOR               COST
◇ greet         1: paused                  0 of 4  you, [AGE]
--- stderr
Next: asbuilt run greet
  or  end it: asbuilt stop greet
""")
    assert "greet.1 (finish, phase 1)" in office.asbuilt("claim", "list")
    assert _workspace(office).is_dir()
    resumed = office.asbuilt("run")
    assert resumed.splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.1 landed on main: 4 phases proven, [AGE]."]
    )
    assert "IMPLEMENT attempt 2" not in resumed
    assert office.asbuilt("stop", "--pause") == snapshot("""\
exit 0
--- stdout
Nothing is running here.
--- stderr
Next: asbuilt status
""")
    assert office.asbuilt("stop", "--pause", "greet") == snapshot("""\
exit 0
--- stdout
greet.1 is already over: landed.
--- stderr
Next: asbuilt status greet
""")
    assert office.asbuilt("run") == snapshot("""\
exit 0
--- stdout
No run here can continue.
--- stderr
Next: asbuilt plan list
""")


def test_a_run_that_is_about_to_pause_is_continued_without_the_pause(office: Office) -> None:
    office.script.write_text(GATED, encoding="utf-8")
    watched = office.typed("run", "greet", "--finish", "--auto", "--script", str(office.script))
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    assert "pauses at its next safe point" in office.asbuilt("stop", "--pause", "greet")
    assert nexts(office.asbuilt("run", "greet", "--detach")) == ["asbuilt watch greet"]
    assert "Pauses after" not in office.asbuilt("status", "greet")
    (_workspace(office) / "go").touch()
    out, _ = watched.communicate(timeout=120)
    assert "greet.1 landed on main: 4 phases proven" in out


def test_all_runs_are_stopped_at_once_and_what_was_written_is_kept(office: Office) -> None:
    assert office.asbuilt("stop", "--all") == snapshot("""\
exit 0
--- stdout
Nothing is running here.
--- stderr
Next: asbuilt status
""")
    assert office.asbuilt("stop") == snapshot("""\
exit 2
--- stderr
error: stop takes the name of a plan, or --all
  Why:  Without a name, the wrong run could be stopped.
  Next: asbuilt status
        # lists the runs
""")
    plan = office.shop / "plans" / "greet.md"
    for name in ("again.md", "theirs.md"):
        (plan.parent / name).write_text(plan.read_text(encoding="utf-8"), encoding="utf-8")
    assert office.asbuilt("claim", "acquire", "theirs", "--owner", "nightly").startswith("exit 0")
    office.script.write_text(
        '[[turn]]\nacts = [{ write = "half.txt", text = "half" }, { hang = true }]\n', encoding="utf-8"
    )
    typed = [office.typed("run", plan, "--script", str(office.script)) for plan in ("greet", "again")]
    until(lambda: len(list(office.state.glob("workspaces/*/*/*.[0-9]/half.txt"))) == 2)
    assert office.asbuilt("stop", "--pause") == snapshot("""\
exit 2
--- stderr
error: several plans match: again, greet
  Why:  asbuilt stop --pause works without a name only if one plan matches.
  Next: asbuilt stop --pause again
""")
    stopped = office.asbuilt("stop", "--all", "-m", "enough")
    assert (stopped.splitlines()[0], "plans/theirs.md stays claimed by nightly." in stopped) == (
        "exit 0",
        True,
    )
    for one in typed:
        one.communicate(timeout=60)
    assert office.asbuilt("land", "greet", "--undo") == snapshot("""\
exit 3
--- stderr
error: nothing of greet has landed here
  Why:  asbuilt reverts only what asbuilt landed.
  Next: asbuilt status greet
""")
    assert '"g" is part of 2 plans' in office.asbuilt("status", "g")
    kept = office.git("for-each-ref", "--format=%(objectname)", "refs/asbuilt/attempts").split()
    assert [office.git("show", f"{commit}:half.txt") for commit in kept] == ["half", "half"]
    assert office.asbuilt("run") == snapshot("""\
exit 2
--- stderr
error: several plans match: again, greet
  Why:  asbuilt run works without a name only if one plan matches.
  Next: asbuilt run again
""")


def test_a_pause_between_two_agents_takes_hold_at_once(office: Office) -> None:
    assert office.run("--finish").splitlines()[0] == "exit 5"
    assert office.asbuilt("stop", "--pause", "greet") == snapshot("""\
exit 0
--- stdout
greet.1   Paused [AGE] ago by the user. Claim and workspace are kept.
--- stderr
Next: asbuilt run greet
  or  end it: asbuilt stop greet
""")
    assert office.asbuilt("approve", "yes", "a1").splitlines()[0] == "exit 0"
    until(lambda: "paused" in office.asbuilt("status", "greet"))
    assert office.asbuilt("run", "greet").splitlines()[0] == "exit 5"


def test_a_question_ends_with_its_run_and_a_late_answer_says_so(office: Office) -> None:
    office.script.write_text(
        '[[turn]]\nacts = [{ fail = "401: invalid key", cause = "auth" }]\n', encoding="utf-8"
    )
    office.run("--finish", "--auto")
    assert "a1" in office.asbuilt("approve")
    office.asbuilt("stop", "greet")
    assert "a1" not in office.asbuilt("approve") + office.asbuilt("approve", "--all") + office.asbuilt()
    late = office.asbuilt("approve", "yes", "a1")
    assert "a1 was withdrawn: its run is over. Nothing was answered." in late
    assert nexts(late) == ["asbuilt run greet"]
