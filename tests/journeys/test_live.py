"""What somebody sees who looks on: real runs in a real terminal, tmux, read from its screen."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.journeys.test_commands import _CHANGES, Office, office, until
from tests.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["office"]
pytestmark = pytest.mark.crash
_GATE = 'run = "until test -e go; do sleep 0.1; done; rm go"'
SCRIPT = f"""\
[[turn]]
phase = "1"
role = "implement"
acts = [{{ write = "greet.py", text = "print('hello')\\n" }}, {{ {_GATE} }}, {{ say = "done" }}]
[[turn]]
phase = "2a"
role = "implement"
acts = [{{ write = "part.py", text = "print('wrong')\\n" }}, {{ say = "part.py says goodbye" }}]
[[turn]]
phase = "2a"
role = "fix"
acts = [{{ write = "part.py", text = "print('goodbye')\\n" }}, {{ {_GATE} }}, {{ say = "done" }}]
[[turn]]
role = "verify"
acts = [{{ verdict = "pass" }}]
"""
"""The agent waits at its gates, so that every moment lasts as long as it is looked at."""


class Terminal(Window):
    """A window with a shell in it."""

    def __init__(self, office: Office) -> None:
        self.office = office
        office.script.write_text(SCRIPT, encoding="utf-8")
        super().__init__("/bin/sh", folder=office.shop, environ=office.environ)

    def enter(self, command: str) -> None:
        """Type a command at the prompt of an empty screen; its exit code is shown when it ends."""
        self._await(lambda shown: shown.endswith("$\n"))
        self.type("clear")
        self._await(lambda shown: shown == "$\n")
        self.type(f"{command}; echo exit $?")

    def screen(self) -> str:
        """Read the screen; what differs from run to run is named instead."""
        shown = super().screen()
        # How much of the agent's command fits depends on the age beside it.
        shown = re.sub(r"(sleep 0\.1; done;)[ rm]*(\.\.\.|…)", r"\1\2", shown)
        for pattern, stable in _CHANGES:
            shown = re.sub(pattern, stable, shown)
        return shown

    def await_words(self, *words: str) -> str:
        return self._await(lambda shown: all(word in shown for word in words))

    def _await(self, true: Callable[[str], bool]) -> str:
        """Read the screen when it has come to rest: a frame may be read while it is drawn."""
        before = ""

        def rests(shown: str) -> bool:
            nonlocal before
            before, last = shown, before
            return shown == last and true(shown)

        return self.until(rests, "what is awaited, at rest")

    def open_gate(self) -> None:
        """Let the agent that waits go on."""
        until(lambda: list(self.office.state.glob("workspaces/*/*/*.[0-9]")))
        (next(self.office.state.glob("workspaces/*/*/*.[0-9]")) / "go").touch()


@pytest.fixture
def terminal(office: Office) -> Iterator[Terminal]:
    with Terminal(office) as made:
        made.type(f"PS1='$ '; asbuilt() {{ {sys.executable} -m asbuilt \"$@\"; }}")
        yield made


def test_a_person_looks_on_answers_leaves_and_comes_back(terminal: Terminal) -> None:
    terminal.enter("asbuilt run greet --finish --script ../script.toml")
    assert terminal.await_words("scripted: run until test") == snapshot("""\
$ asbuilt run greet --finish --script ../script.toml; echo exit $?
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, when you confirm
greet.1   since [HH:MM], [AGE]   0 of 4 proven
● 1   Greet    implementing, attempt 1 [AGE]
○ 2a  Part     needs 1
○ 2b  Shout    needs 1
○ 3   Both     needs 2a, 2b
  scripted: run until test -e go; do sleep 0.1; done;… [AGE] ago, 2 tool calls
  scripted works on phase 1, attempt 1, since [HH:MM]. Restarts after [AGE] of
  silence (2h at most).
Ctrl-C leaves it running, m sends a note. Lands when you confirm.
""")
    terminal.tmux("resize-window", "-x", "40", "-y", "20")
    assert terminal.await_words("2 calls\n").count("Ctrl-C leaves it running") == 1
    assert max(map(len, terminal.tmux("capture-pane", "-p").splitlines())) <= 40
    terminal.tmux("resize-window", "-x", "80", "-y", "24")
    assert terminal.await_words("2 tool calls\n").count("Ctrl-C leaves it running") == 1
    terminal.type("ls")
    terminal.press("m")
    terminal.await_words("Note for the next attempt: _")
    terminal.type("Say it in English")
    terminal.await_words("note for the next attempt: Say it in English", "Ctrl-C leaves it running")
    terminal.open_gate()
    terminal.await_words("Enter later >")
    terminal.press("Enter")
    terminal.await_words("Waits for you", "exit 5")
    terminal.enter("asbuilt run greet")
    terminal.await_words("Waits for you", "exit 5")
    terminal.enter("asbuilt watch greet")
    assert terminal.await_words("Enter later >") == snapshot("""\
$ asbuilt watch greet; echo exit $?
✓ 1   Greet                proven  [HASH]  1 check [AGE]
◇ greet.1 asks a1: continue with phase 2a?
y yes   n no, and why   Enter later >
""")
    terminal.type("y")
    assert terminal.await_words("NOT PROVEN", "scripted: run until test") == snapshot("""\
$ asbuilt watch greet; echo exit $?
✓ 1   Greet                proven  [HASH]  1 check [AGE]
◇ greet.1 asks a1: continue with phase 2a?
y yes   n no, and why   Enter later > y
✗ 2a  Part                 NOT PROVEN: scripted says done, a check disagrees
      scripted says  "part.py says goodbye"
      asbuilt ran    grep -q goodbye part.py on a clean checkout: FAIL, exit 1
      so             sent back to the agent (fix 1 of 2)
  failed    check
  command   grep -q goodbye part.py
  where     a clean checkout of tree [HASH]
  result    exit 1
  printed   nothing
greet.1   since [HH:MM], [AGE]   1 of 4 proven
● 2a  Part     fixing, cycle 1 of 2 [AGE]
○ 2b  Shout
○ 3   Both     needs 2a, 2b
  ✗ grep -q goodbye part.py: FAIL, exit 1
  scripted: run until test -e go; do sleep 0.1; done;… [AGE] ago, 2 tool calls
  scripted works on phase 2a, attempt 2, since [HH:MM]. Restarts after [AGE] of
  silence (2h at most).
Ctrl-C leaves it running, m sends a note. Lands when you confirm.
""")
    terminal.press("C-c")
    assert terminal.await_words("exit 130\n$") == snapshot("""\
$ asbuilt watch greet; echo exit $?
✓ 1   Greet                proven  [HASH]  1 check [AGE]
◇ greet.1 asks a1: continue with phase 2a?
y yes   n no, and why   Enter later > y
✗ 2a  Part                 NOT PROVEN: scripted says done, a check disagrees
      scripted says  "part.py says goodbye"
      asbuilt ran    grep -q goodbye part.py on a clean checkout: FAIL, exit 1
      so             sent back to the agent (fix 1 of 2)
  failed    check
  command   grep -q goodbye part.py
  where     a clean checkout of tree [HASH]
  result    exit 1
  printed   nothing
Left running: greet.1 continues in the worker (pid [PID]).
Next: asbuilt watch greet
  or  end it: asbuilt stop greet
exit 130
$
""")
    assert terminal.tmux("display", "-p", "#{cursor_flag}") == "1\n"
    briefs = terminal.office.state.glob("runs/*/**/brief.json")
    assert any("Say it in English" in brief.read_text(encoding="utf-8") for brief in briefs)
    terminal.enter("asbuilt watch")
    terminal.await_words("NOT PROVEN", "scripted works on phase 2a")
    terminal.open_gate()
    terminal.await_words("Enter later >")
    terminal.type("n")
    terminal.await_words("Why? >")
    terminal.type("enough for today")
    assert terminal.await_words("exit 5\n$") == snapshot("""\
$ asbuilt watch; echo exit $?
✓ 1   Greet                proven  [HASH]  1 check [AGE]
✗ 2a  Part                 NOT PROVEN: scripted says done, a check disagrees
      scripted says  "part.py says goodbye"
      asbuilt ran    grep -q goodbye part.py on a clean checkout: FAIL, exit 1
      so             sent back to the agent (fix 1 of 2)
  failed    check
  command   grep -q goodbye part.py
  where     a clean checkout of tree [HASH]
  result    exit 1
  printed   nothing
✓ 2a  Part                 proven  [HASH]  1 check [AGE]
◇ greet.1 asks a2: continue with phase 2b?
y yes   n no, and why   Enter later > n
Why? > enough for today
greet.1 stopped: you said no to phase 2b. 2 of 4 phases proven, not landed. All
work is kept.
Next: asbuilt run greet
  or  see what happened: asbuilt log greet
exit 5
$
""")


def test_colour_and_drawing_are_left_out_where_they_are_not_wanted(terminal: Terminal) -> None:
    terminal.enter("asbuilt run greet --auto --script ../script.toml")
    terminal.await_words("scripted: run until test")
    assert "\x1b[1m" in terminal.tmux("capture-pane", "-p", "-e")
    terminal.press("C-c")
    terminal.enter("NO_COLOR=1 asbuilt watch greet")
    terminal.await_words("scripted: run until test")
    assert "\x1b[" not in terminal.tmux("capture-pane", "-p", "-e")
    terminal.press("C-c")
    terminal.enter("TERM=dumb asbuilt watch greet")
    terminal.await_words("IMPLEMENT attempt 1")
    terminal.press("C-c")
    assert terminal.await_words("exit 130\n$") == snapshot("""\
$ TERM=dumb asbuilt watch greet; echo exit $?
greet.1
[TIME] -   START     on [HASH]
[TIME] -   TESTS     none found; only the plan's checks will run
[TIME] -   SETUP     PASS no setup is set
[TIME] -   BASELINE  PASS No tests found; only the plan's checks will run
[TIME] 1   IMPLEMENT attempt 1, scripted
^CLeft running: greet.1 continues in the worker (pid [PID]).
Next: asbuilt watch greet
  or  end it: asbuilt stop greet
exit 130
$
""")
    terminal.enter("LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 asbuilt watch greet")
    assert terminal.await_words("scripted: run until test") == snapshot("""\
$ LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 asbuilt watch greet; echo exit $?
greet.1   since [HH:MM], [AGE]   0 of 4 proven
* 1   Greet    implementing, attempt 1 [AGE]
. 2a  Part     needs 1
. 2b  Shout    needs 1
. 3   Both     needs 2a, 2b
  scripted: run until test -e go; do sleep 0.1; done;... [AGE] ago, 2 tool calls
  scripted works on phase 1, attempt 1, since [HH:MM]. Restarts after [AGE] of
  silence (2h at most).
Ctrl-C leaves it running, m sends a note. Lands on main at the end.
""")


def test_a_run_without_questions_prompts_for_no_sign_off(terminal: Terminal) -> None:
    office = terminal.office
    office.script.write_text(
        SCRIPT.replace("print('hello')\\n", "print('hello')  # TODO: later\\n"), encoding="utf-8"
    )
    terminal.enter("asbuilt run greet --auto --script ../script.toml")
    terminal.await_words("scripted: run until test")
    terminal.open_gate()
    shown = terminal.await_words("exit 5\n$")
    assert ("Enter later" in shown, "asbuilt approve yes a1" in shown) == (False, True)
    assert office.asbuilt("approve", "show", "a1").splitlines()[0] == "exit 0"


def test_a_terminal_that_goes_away_takes_nothing_with_it(terminal: Terminal) -> None:
    terminal.enter("asbuilt run greet --auto --script ../script.toml")
    terminal.await_words("scripted: run until test")
    terminal.close()
    terminal.open_gate()
    until(lambda: "landed" in terminal.office.asbuilt("status", "greet"))
    assert not (terminal.office.state / "crashes").exists()


def test_in_the_foreground_ctrl_c_pauses_and_run_continues(terminal: Terminal) -> None:
    terminal.enter("asbuilt run greet --auto --foreground --script ../script.toml")
    terminal.await_words("scripted: run until test", "Ctrl-C pauses it")
    terminal.press("C-c")
    assert terminal.await_words("exit 130\n$") == snapshot("""\
$ asbuilt run greet --auto --foreground --script ../script.toml; echo exit $?
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
Pausing at a safe point, at most [AGE]. Again: end now, work kept.
greet.1 is paused; all work is kept.
Next: asbuilt run greet
exit 130
$
""")
    terminal.enter("asbuilt watch")
    assert terminal.await_words("exit 0\n$") == snapshot("""\
$ asbuilt watch; echo exit $?
greet.1   Cut off in phase 1, last sign [HH:MM]: no worker is running. Nothing is
lost.
Next: asbuilt run greet
exit 0
$
""")
    terminal.enter("asbuilt run greet")
    terminal.await_words("scripted: run until test")
    terminal.open_gate()
    assert "greet.1 landed on main: 1 phase proven" in terminal.await_words("exit 0\n$")


def test_in_the_foreground_a_second_ctrl_c_does_not_wait_for_a_safe_point(terminal: Terminal) -> None:
    terminal.enter("ASBUILT_CHECKS_SETUP='sleep 600' asbuilt run greet --foreground --script ../script.toml")
    terminal.await_words("Run it?")
    terminal.type("y")
    terminal.await_words("asbuilt: runs the setup")
    terminal.press("C-c")
    terminal.await_words("Pausing at a safe point")
    terminal.press("C-c")
    assert "greet.1 is paused; all work is kept." in terminal.await_words("exit 130\n$")


def test_whoever_looks_on_is_told_that_somebody_else_has_paused_it(terminal: Terminal) -> None:
    terminal.enter("asbuilt run greet --auto --script ../script.toml")
    terminal.await_words("scripted: run until test")
    with terminal.office.typed("stop", "greet", "--pause") as pausing:
        terminal.await_words("Pauses after this attempt.")
        terminal.open_gate()
        pausing.communicate(timeout=180)
    assert "greet.1   Paused" in terminal.await_words("exit 5\n$")


def test_a_reader_that_goes_away_leaves_the_run_as_it_is(office: Office) -> None:
    with office.typed("run", "greet", "--auto", "--script", str(office.script)) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        terms = [process.stderr.readline().split()[0] for _ in range(3)]
        assert terms == ["Agents", "Cost", "Lands"]
        assert (process.stderr.readline(), "START" in process.stderr.readline()) == ("greet.1\n", True)
        process.stderr.close()
        said = process.stdout.read()
    assert (process.returncode, re.sub(r"\d+s", "[AGE]", said)) == snapshot(
        (0, "greet.1 landed on main: 1 phase proven, [AGE].\n")
    )


def test_the_worker_notifies_the_desktop_once_with_our_own_words(office: Office, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "notify-send").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" >>"{tmp_path}/said"\n', encoding="utf-8"
    )
    (programs / "notify-send").chmod(0o755)
    office.environ |= {"PATH": f"{programs}:{office.environ['PATH']}", "DBUS_SESSION_BUS_ADDRESS": "none"}
    assert office.run("--finish").splitlines()[0] == "exit 5"
    until((tmp_path / "said").exists)
    office.asbuilt("approve", "yes", "a1")
    office.asbuilt("watch", "greet")
    until(lambda: "a2" in (tmp_path / "said").read_text(encoding="utf-8"))
    assert (tmp_path / "said").read_text(encoding="utf-8") == snapshot("""\
--app-name=asbuilt -- asbuilt: greet.1 in shop needs you Question a1 waits: asbuilt approve
--app-name=asbuilt -- asbuilt: greet.1 in shop needs you Question a2 waits: asbuilt approve
""")
    assert '"way":"desktop"' in office.asbuilt("log", "greet", "--json")
    office.environ["ASBUILT_ATTENTION_DESKTOP"] = "false"
    office.asbuilt("stop", "greet")
    assert office.asbuilt("run", "greet").splitlines()[0] == "exit 5"
    assert len((tmp_path / "said").read_text(encoding="utf-8").splitlines()) == 2
