"""What a person types: the real command, a real worker that it starts, a real repository."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.journal.engine.liveness import holder
from tests.journeys.shop import PLAN, SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.crash
_CHANGES = (
    (r"\b\d\d:\d\d:\d\d\b", "[TIME]"),
    (r"\b\d\d:\d\d\b", "[HH:MM]"),
    (r"\b([0-9a-f]{7}|[0-9a-f]{40})\b", "[HASH]"),
    (r"\bsha256:[0-9a-f]{8,}", "[INTENT]"),
    (r"\b(exit \d+), after \d+[sm]\b", r"\1"),
    (r" +\d+[sm]\b", " [AGE]"),
    (r"\(pid \d+\)", "(pid [PID])"),
)


class Office:
    """A person's repository and home, and everything typed there."""

    def __init__(self, folder: Path, name: str = "shop") -> None:
        self.shop, self.state = folder / name, folder / "state"
        self.script = folder / "script.toml"
        self.script.write_text(SCRIPT, encoding="utf-8")
        self.environ = {
            "HOME": str(folder / "home"), "LOGNAME": "ann", "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
            "ASBUILT_HOME": str(self.state), "ASBUILT_SANDBOX_REQUIRED": "false",
            "ASBUILT_AGENTS_IMPLEMENT": "scripted",
            # Phases side by side end in any order; `test_lanes` is about them.
            "ASBUILT_RUN_LANES": "1",
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
        }  # fmt: skip
        (self.shop / "plans").mkdir(parents=True)
        (folder / "home").mkdir()
        (self.shop / "plans" / "greet.md").write_text(PLAN, encoding="utf-8")
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A Person")
        self.git("config", "user.email", "a@example.com")
        self.git("add", ".")
        self.git("commit", "-qm", "start")

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments],  # noqa: S607
            cwd=self.shop,
            env=self.environ,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def typed(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "asbuilt", *arguments],
            cwd=self.shop,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def asbuilt(self, *arguments: str) -> str:
        """Type a command and give all that came out; what differs from run to run is named instead."""
        with self.typed(*arguments) as process:
            out, err = process.communicate(timeout=300)
        shown = f"exit {process.returncode}\n"
        for name, text in (("stdout", out), ("stderr", err)):
            if text:
                shown += f"--- {name}\n{text}"
        for pattern, stable in _CHANGES:
            shown = re.sub(pattern, stable, shown)
        return shown

    def run(self, *arguments: str) -> str:
        return self.asbuilt("run", "greet", *arguments, "--script", str(self.script))

    def close(self) -> None:
        pid = holder(self.state / "worker.lock")
        if pid:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path)
    yield made
    made.close()


def until(true: Callable[[], object], *, within_s: float = 120) -> None:
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_person_runs_a_plan_to_its_end_and_looks_at_it(office: Office) -> None:
    assert office.run("--finish", "--auto") == snapshot("""\
exit 0
--- stdout
greet.1 landed on main: 4 phases proven, [AGE].
--- stderr
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
greet.1
[TIME] -   START     on [HASH]
[TIME] -   TESTS     none found; only the plan's checks will run
[TIME] -   SETUP     PASS no setup is set
[TIME] -   BASELINE  PASS No tests found; only the plan's checks will run
[TIME] 1   IMPLEMENT attempt 1, scripted
[TIME] 1   SAYS DONE agent: "done"
[TIME] 1   PASS      every check that asbuilt ran
[TIME] 1   VERIFY    another agent judges attempt 1
[TIME] 1   VERDICT   verifier says PASS
[TIME] 1   PROVEN    [HASH]
[TIME] 2a  IMPLEMENT attempt 1, scripted
[TIME] 2a  SAYS DONE agent: "done"
[TIME] 2a  FAIL      grep -q goodbye part.py: FAIL, exit 1
  failed    check
  command   grep -q goodbye part.py
  where     a clean checkout of tree [HASH]
  result    exit 1
  printed   nothing
[TIME] 2a  FIX       attempt 2, scripted
[TIME] 2a  SAYS DONE agent: "done"
[TIME] 2a  PASS      every check that asbuilt ran
[TIME] 2a  VERIFY    another agent judges attempt 2
[TIME] 2a  VERDICT   verifier says PASS
[TIME] 2a  PROVEN    [HASH]
[TIME] 2b  IMPLEMENT attempt 1, scripted
[TIME] 2b  SAYS DONE agent: "done"
[TIME] 2b  PASS      every check that asbuilt ran
[TIME] 2b  VERIFY    another agent judges attempt 1
[TIME] 2b  VERDICT   verifier says PASS
[TIME] 2b  PROVEN    [HASH]
[TIME] 3   IMPLEMENT attempt 1, scripted
[TIME] 3   SAYS DONE agent: "done"
[TIME] 3   PASS      every check that asbuilt ran
[TIME] 3   VERIFY    another agent judges attempt 1
[TIME] 3   VERDICT   verifier says PASS
[TIME] 3   PROVEN    [HASH]
[TIME] -   TOGETHER  PASS
[TIME] -   VERIFY    another agent judges all phases together
[TIME] -   VERDICT   verifier says PASS
[TIME] -   LANDED    main [HASH]
[TIME] -   COMPLETE  every phase of the plan is done
Next: asbuilt report greet.1
""")
    assert office.asbuilt("status") == snapshot("""\
exit 0
--- stdout
  PLAN          STATE                      PHASES  WAITS FOR               COST
✓ greet         landed [HH:MM]               4 of 4
--- stderr
Next: asbuilt report greet.1
""")
    assert office.asbuilt("status", "greet") == snapshot("""\
exit 0
--- stdout
greet   landed, 4 of 4 phases done (100%)
✓ 1   Greet                      landed [HASH]             [HH:MM]
✓ 2a  Part                       landed [HASH]             [HH:MM]
✓ 2b  Shout                      landed [HASH]             [HH:MM]
✓ 3   Both                       landed [HASH]             [HH:MM]
Landed on main [HH:MM].
--- stderr
Next: asbuilt report greet.1
""")
    assert office.asbuilt("report") == snapshot("""\
exit 0
--- stdout
greet.1   landed on main [HH:MM], [AGE]
Proven: 4 of 4 items, 4 of 4 checks.
! phase 2a: 1 fix: grep -q goodbye part.py: FAIL, exit 1
--- stderr
Next: asbuilt report greet.1 --open
""")
    assert office.asbuilt("report", "greet.1", "--markdown").splitlines()[2:5] == snapshot(
        ["# Greetings", "", "Run `greet.1` of `plans/greet.md`"]
    )
    assert office.asbuilt("log", "greet", "--phase", "2a") == snapshot("""\
exit 0
--- stdout
[TIME]  2a  begin      intent [INTENT]
[TIME]  2a  implement  attempt 1, scripted
[TIME]  2a  says done  agent: "done"
[TIME]  2a  kept       tree [HASH]
[TIME]  2a  fail       grep -q goodbye part.py: FAIL, exit 1
  failed    check
  command   grep -q goodbye part.py
  where     a clean checkout of tree [HASH]
  result    exit 1
  printed   nothing
[TIME]  2a  fix        attempt 2, scripted
[TIME]  2a  says done  agent: "done"
[TIME]  2a  kept       tree [HASH]
[TIME]  2a  pass       every check that asbuilt ran
[TIME]  2a  verify     another agent judges attempt 2
[TIME]  2a  verdict    verifier says PASS
[TIME]  2a  proven     [HASH]
""")
    assert office.git("status", "--short") == ""


def test_the_second_run_of_a_plan_is_told_who_has_it(office: Office) -> None:
    office.script.write_text("[[turn]]\nacts = [{ sleep = 300 }]\n", encoding="utf-8")
    first = office.typed("run", "greet", "--script", str(office.script))
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    assert office.run() == snapshot("""\
exit 0
--- stdout
Declined: greet is already running as greet.1 (for [AGE], phase 1). Nothing was
started.
--- stderr
Next: asbuilt watch greet
  or  end it first: asbuilt stop greet
""")
    assert office.asbuilt("claim", "acquire", "greet", "--owner", "me") == snapshot("""\
exit 10
--- stdout
greet is held by greet.1.
""")
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=60)
    assert (first.returncode, out, re.sub(r"pid \d+", "pid [PID]", err.splitlines()[-3])) == snapshot(
        (130, "", "Left running: greet.1 continues in the worker (pid [PID]).")
    )
    assert office.asbuilt("stop", "greet", "-m", "enough") == snapshot("""\
exit 0
--- stdout
greet.1 stopped: enough. 0 of 4 phases done. All work is kept.
--- stderr
Next: asbuilt run greet
  or  see what happened: asbuilt log greet
""")
    assert office.asbuilt("stop", "greet") == snapshot("""\
exit 0
--- stdout
greet.1 is already over: stopped.
--- stderr
Next: asbuilt status greet
""")
    assert office.asbuilt("claim", "list") == snapshot("""\
exit 0
--- stdout
No plan is claimed here.
""")


def test_claims_keep_their_exit_codes(office: Office) -> None:
    def code(*arguments: str) -> str:
        return office.asbuilt("claim", *arguments).splitlines()[0]

    assert code("acquire", "greet", "--owner", "me") == "exit 0"
    assert code("acquire", "greet", "--owner", "me") == "exit 0"
    assert code("acquire", "greet", "--owner", "you") == "exit 10"
    assert code("release", "greet", "--owner", "you") == "exit 12"
    assert office.run().splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "Declined: greet is claimed by me (for [AGE]). Nothing was started."]
    )
    assert code("break", "greet", "--reason", "gone") == "exit 0"
    assert code("release", "greet", "--owner", "me") == "exit 0"
    assert code("acquire", "greet") == "exit 2"
    assert code("acquire", "nothing", "--owner", "me") == "exit 3"


def test_what_was_stopped_is_kept_and_goes_on_from_its_files(office: Office) -> None:
    half = '[[turn]]\nacts = [{ write = "half.txt", text = "half" }, { sleep = 60 }]\n'
    office.script.write_text(half, encoding="utf-8")
    first = office.typed("run", "greet", "--script", str(office.script))
    until(lambda: "implementing" in office.asbuilt("status", "greet"))
    until(lambda: list(office.state.glob("workspaces/*/*/*.[0-9]/half.txt")))
    assert office.asbuilt("stop", "greet").splitlines()[0] == "exit 0"
    first.communicate(timeout=60)
    kept = office.git("for-each-ref", "--format=%(refname)", "refs/asbuilt/attempts").splitlines()
    assert [office.git("show", f"{ref}:half.txt") for ref in kept] == ["half"]
    goes_on = (
        '[[turn]]\nrole = "verify"\nacts = [{ verdict = "pass" }]\n'
        '[[turn]]\nacts = [{ move = "half.txt", to = "greet.py" },'
        ' { append = "greet.py", text = " hello" }]\n'
    )
    office.script.write_text(goes_on, encoding="utf-8")
    assert office.asbuilt("run", "greet").splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.2: 1 of 4 phases proven, not landed. [AGE]."]
    )
    assert office.git("show", "asbuilt/greet:greet.py") == "half hello"
    assert office.git("ls-tree", "--name-only", "asbuilt/greet").splitlines() == ["greet.py", "plans"]


def test_a_phase_that_could_not_land_is_landed_by_going_on_and_no_other_begins(office: Office) -> None:
    mine = office.shop / "greet.py"
    mine.write_text("mine\n", encoding="utf-8")
    assert office.run("--auto").splitlines()[:3] == snapshot(
        [
            "exit 1",
            "--- stdout",
            "greet.1 failed: Not landed: greet.py is in the way, and this plan adds it. main",
        ]
    )
    mine.unlink()
    # Proven and not marked: the next run is another phase's.
    assert office.run("--dry-run").splitlines()[2:4] == snapshot(["greet   plans/greet.md", "○ 2a  Part"])
    assert office.asbuilt("run", "greet").splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.2 landed on main: 1 phase proven, [AGE]."]
    )
    assert office.git("log", "--format=%s").splitlines() == ["Mark plans/greet.md", "Greet", "start"]


def test_a_phase_is_found_however_its_letter_is_written(office: Office) -> None:
    assert office.run("--auto").splitlines()[0] == "exit 0"
    assert office.run("2A", "--auto").splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.2 landed on main: 1 phase proven, [AGE]."]
    )


def test_what_is_done_can_be_verified_again_and_what_broke_is_named(office: Office) -> None:
    assert office.asbuilt("verify", "greet").splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.1 ended: nothing to verify: no phase is done."]
    )
    assert office.run("--auto").splitlines()[0] == "exit 0"
    assert office.asbuilt("verify", "greet").splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.3 ended: still proven: phase 1."]
    )
    (office.shop / "greet.py").write_text("broken\n", encoding="utf-8")
    assert office.asbuilt("verify", "greet").splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "greet.4 ended: still proven: phase 1."]
    )
    assert office.asbuilt("report", "greet.4").splitlines()[2:4] == snapshot(
        ["greet.4   done [HH:MM], [AGE]", "Checked 1 phase again: 1 of 1 check passed."]
    )
    office.git("commit", "-qam", "break it")
    assert office.asbuilt("verify", "greet", "1").splitlines()[:3] == snapshot(
        ["exit 1", "--- stdout", "greet.5 failed: phase 1: grep -q hello greet.py: FAIL, exit 1"]
    )
    assert office.git("show", "HEAD:greet.py") == "broken"
    repaired = "Next: asbuilt verify greet 1\n      # after you repair what fails\n"
    assert repaired in office.asbuilt("verify", "greet", "1")
    assert repaired in office.asbuilt("status", "greet")


def test_a_run_without_an_agent_reports_what_it_landed_or_did_instead(office: Office) -> None:
    def reported(run: str) -> list[str]:
        return office.asbuilt("report", run).splitlines()[2:4]

    assert office.run("1").splitlines()[0] == "exit 0"
    assert office.asbuilt("land", "greet").splitlines()[0] == "exit 0"
    assert reported("greet.2") == snapshot(
        [
            "greet.2   landed on main [HH:MM], [AGE]",
            "Proven: 1 of 1 item, 1 of 1 check. Phase 1 was proven by greet.1.",
        ]
    )
    assert "Next: asbuilt report greet.2 --open" in office.asbuilt("report", "greet.2")
    page = office.asbuilt("report", "greet.2", "--markdown")
    assert "- Attempt 1, implement by scripted" in page, page
    assert "\nasbuilt verify --replay greet.1\n" in page, page
    assert office.asbuilt("verify", "--replay", "greet.1").splitlines()[0] == "exit 0"
    assert office.asbuilt("land", "greet").splitlines()[0] == "exit 0"
    assert reported("greet.3") == snapshot(
        [
            "greet.3   done [HH:MM], [AGE]",
            "Nothing to land: the target has all proven commits. No agent worked in this run.",
        ]
    )
    assert office.asbuilt("land", "greet", "--undo").splitlines()[0] == "exit 0"
    assert reported("greet.4") == snapshot(
        ["greet.4   undone [HH:MM], [AGE]", "Reverted phase 1. No agent worked in this run."]
    )


def test_a_plan_in_your_own_folder_is_run_and_marked_where_it_lies(office: Office) -> None:
    own = office.shop.parent / "home" / ".claude" / "plans" / "mine.md"
    own.parent.mkdir(parents=True)
    (office.shop / "plans" / "greet.md").rename(own)
    office.git("commit", "-qam", "no plan here")
    assert office.asbuilt("run", "mine", "--auto", "--script", str(office.script)).splitlines()[
        2
    ] == snapshot("mine.1 landed on main: 1 phase proven, [AGE].")
    assert office.git("log", "--format=%s", "main").splitlines() == ["Greet", "no plan here", "start"]
    assert "- [x] `greet.py` says hello" in own.read_text(encoding="utf-8")
    assert office.git("status", "--short") == ""
