"""How a repository is tested is settled once, before a run is left alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.journeys.test_commands import office
from tests.journeys.test_live import terminal
from tests.journeys.test_next_steps import nexts

if TYPE_CHECKING:
    from tests.journeys.test_commands import Office
    from tests.journeys.test_live import Terminal

__all__ = ["office", "terminal"]

pytestmark = pytest.mark.crash
PYTEST = (
    "import glob, runpy\ndef test_one(): [runpy.run_path(one) for one in glob.glob('*.py')]\n"
    "def test_two(): assert 0\n"
)
NODE = {
    "web/package.json": '{"name": "web", "scripts": {"test": "node --test"}}\n',
    "web/a.test.js": "require('node:test')('adds', () => {})\n",
}


def _commit(office: Office, files: dict[str, str]) -> None:
    for path, text in files.items():
        (office.shop / path).parent.mkdir(exist_ok=True)
        (office.shop / path).write_text(text)
        office.git("add", path)
    office.git("commit", "-qm", "tests")


def test_a_script_settles_it_with_one_command_and_an_unattended_run_then_starts(office: Office) -> None:
    _commit(office, {"tests/test_all.py": PYTEST, "Makefile": "test:\n\tfalse\n"})
    failed = office.run("--finish", "--auto")
    assert failed[: failed.index("--- stderr")] == snapshot("""\
exit 1
--- stdout
greet.1 failed: no test command is set; found `python -m pytest -q`
(tests/test_all.py).
""")
    assert failed.endswith("Next: asbuilt doctor --tests --save\n")
    assert nexts(office.asbuilt("status", "greet")) == ["asbuilt doctor --tests --save"]
    assert office.asbuilt("doctor", "--tests", "--save") == snapshot("""\
exit 0
--- stderr
Trying python -m pytest -q on a clean checkout
Setting up: python3 -m venv "$VIRTUAL_ENV" && python -m pip install -q pytest
Trying python -m unittest discover on a clean checkout
Setting up: python3 -m venv "$VIRTUAL_ENV"
Trying make test (by exit code alone) on a clean checkout
Tests  found 3 ways to test this repository
  1  python -m pytest -q             ran 2, failed 1  (tests/test_all.py)
  2  python -m unittest discover     exit 0, no test ran
  3  make test (by exit code alone)
     exit 2: make: *** [Makefile:2: test] Error 1
Saved in asbuilt.toml: python -m pytest -q
Commit asbuilt.toml, so that other clones use it too.
Next: asbuilt run greet
""")
    assert (office.shop / "asbuilt.toml").read_text() == snapshot("""\
[checks]
tests = "python -m pytest -q"
""")
    assert office.git("status", "--short") == "?? asbuilt.toml"
    assert nexts(office.asbuilt("status", "greet")) == ["asbuilt run greet"]
    landed = office.asbuilt("run", "greet", "--script", str(office.script))
    assert landed[: landed.index("--- stderr")] == snapshot("""\
exit 0
--- stdout
greet.2 landed on main: 4 phases proven, [AGE]. Before the work, 1 of 2 tests
already fail.
""")


def test_suites_of_several_folders_are_saved_as_one_set(office: Office) -> None:
    _commit(office, {"tests/test_all.py": "def test_one(): pass\n", **NODE})
    assert office.asbuilt("doctor", "--tests", "--save") == snapshot("""\
exit 0
--- stderr
Trying python -m pytest -q + npm test in web on a clean checkout
Setting up: (cd . && python3 -m venv "$VIRTUAL_ENV" && python -m pip install -q
            pytest) && (cd web && HUSKY=0 npm install --no-audit --no-fund
            --no-package-lock)
Tests  found 1 way to test this repository
  1  python -m pytest -q + npm test in web
     ran 2, failed 0 (tests/test_all.py, web/package.json)
Saved in asbuilt.toml: python -m pytest -q + npm test in web
Commit asbuilt.toml, so that other clones use it too.
Next: asbuilt run greet --script FILE
  or  list the plans: asbuilt plan list
""")
    assert (office.shop / "asbuilt.toml").read_text() == snapshot("""\
[[checks.suites]]
command = "python -m pytest -q"

[[checks.suites]]
folder = "web"
command = "npm test"
""")


def test_a_command_that_shows_no_tests_is_not_saved(office: Office) -> None:
    _commit(office, {"tests/test_all.py": "import nothing_of_that_name\n"})
    told = re.sub(r"\d+\.\d+s", "[S]", office.asbuilt("doctor", "--tests", "--save"))
    # How an interpreter tells of its own import machinery differs between its versions.
    told = re.sub(r"(Traceback:\n).*?( +tests/test_all)", r"\1\2", told, flags=re.DOTALL)
    assert told == snapshot("""\
exit 1
--- stdout
Every test fails, so none can prove anything.
--- stderr
Trying python -m pytest -q on a clean checkout
Setting up: python3 -m venv "$VIRTUAL_ENV" && python -m pip install -q pytest
Trying python -m unittest discover on a clean checkout
Setting up: python3 -m venv "$VIRTUAL_ENV"
Tests  found 2 ways to test this repository
  1  python -m pytest -q
     exit 2, all 1 fail: nothing_of_that_name is not installed in the check
     environment. (tests/test_all.py)
       ______________________ ERROR col…tests/test_all.py ______________________
       ImportError while importing test…run/asbuilt/checkout/tests/test_all.py'.
       Hint: make sure your test modules/packages have valid Python names.
       Traceback:
       tests/test_all.py:1: in <module>
           import nothing_of_that_name
       E   ModuleNotFoundError: No module named 'nothing_of_that_name'
       =========================== shor…ummary info ============================
       ERROR tests/test_all.py
       !!!!!!!!!!!!!!!!!!!! Interrupted…r during collection !!!!!!!!!!!!!!!!!!!!
       1 error in [S]
  2  python -m unittest discover  exit 0, no test ran
       ----------------------------------------------------------------------
       Ran 0 tests in [S]
       OK
Next: asbuilt doctor --tests
      # after you repair the tests
  or  set another: asbuilt config set checks.tests "<command>"
""")
    assert not (office.shop / "asbuilt.toml").exists()


def test_a_suite_that_counts_nothing_is_saved_once_its_exit_code_may_count(office: Office) -> None:
    manifest = '{"name": "shop", "scripts": {"test": "node check.js"}}\n'
    _commit(office, {"package.json": manifest, "check.js": ""})
    told = office.asbuilt("doctor", "--tests", "--save")
    assert told[: told.index("--- stderr")] == snapshot("""\
exit 1
--- stdout
None of them shows which tests ran, so none can prove anything.
""")
    assert told.endswith("Next: asbuilt config set checks.counts exit-code\n")
    assert office.asbuilt("config", "set", "checks.counts", "exit-code") == snapshot("""\
exit 0
--- stdout
checks.counts is now exit-code in asbuilt.toml
""")
    assert office.asbuilt("doctor", "--tests", "--save") == snapshot("""\
exit 0
--- stderr
Trying npm test (by exit code alone) on a clean checkout
Setting up: HUSKY=0 npm install --no-audit --no-fund --no-package-lock
Tests  found 1 way to test this repository
  1  npm test (by exit code alone)  exit 0, by exit code alone  (package.json)
Saved in asbuilt.toml: npm test (by exit code alone)
Commit asbuilt.toml, so that other clones use it too.
Next: asbuilt run greet --script FILE
  or  list the plans: asbuilt plan list
""")
    assert (office.shop / "asbuilt.toml").read_text() == snapshot("""\
[checks]
counts = "exit-code"

[[checks.suites]]
command = "npm test"
counts = "exit-code"
""")


def test_a_setup_that_fails_is_named_as_the_reason_that_no_test_ran(office: Office) -> None:
    _commit(office, {"tests/test_all.py": PYTEST})
    office.asbuilt("config", "set", "checks.setup", "echo no such host; exit 3")
    assert office.asbuilt("doctor", "--tests", "--save") == snapshot("""\
exit 1
--- stdout
The setup failed, so no test ran. Fix what its output names, or set another one.
--- stderr
Trying python -m pytest -q on a clean checkout
Setting up: echo no such host; exit 3
Tests  found 1 way to test this repository
  1  python -m pytest -q
     setup `echo no such host; exit 3` failed: exit 3: no such host
     (tests/test_all.py)
Next: asbuilt config set checks.setup "<command>"
      # with your own command, for example npm ci
  or  if the tests need none: asbuilt config set checks.setup none
""")


def test_tests_that_no_known_runner_runs_are_named(office: Office) -> None:
    _commit(office, {"test/a_SUITE.erl": "-module(a_SUITE).\n"})
    assert office.asbuilt("doctor", "--tests", "--save") == snapshot("""\
exit 1
--- stdout
Tests exist, but no command that runs them was found: test/a_SUITE.erl.
--- stderr
Tests  found 0 ways to test this repository
Next: asbuilt config set checks.tests "<command>"
      # with your own command, for example npm test
""")
    failed = office.run("--finish", "--auto")
    assert failed[: failed.index("--- stderr")] == snapshot("""\
exit 1
--- stdout
greet.1 failed: no test command is set, and there is test/a_SUITE.erl.
""")


def test_a_setup_that_fails_runs_once_and_no_command_is_asked_for(terminal: Terminal) -> None:
    _commit(terminal.office, {"tests/test_all.py": PYTEST, "Makefile": "test:\n\tfalse\n"})
    terminal.office.asbuilt("config", "set", "checks.setup", "echo no such package; exit 3")
    terminal.enter("asbuilt doctor --tests")
    assert terminal.await_words("exit 1") == snapshot("""\
$ asbuilt doctor --tests; echo exit $?
Trying python -m pytest -q on a clean checkout
Setting up: echo no such package; exit 3
Tests  found 1 way to test this repository
  1  python -m pytest -q
     setup `echo no such package; exit 3` failed: exit 3: no such package
     (tests/test_all.py)
The setup failed, so no test ran. Fix what its output names, or set another one.
Next: asbuilt config set checks.setup "<command>"
      # with your own command, for example npm ci
  or  if the tests need none: asbuilt config set checks.setup none
exit 1
$
""")


def test_the_first_attended_run_asks_once_and_commits_the_answer_with_the_plan(terminal: Terminal) -> None:
    office = terminal.office
    _commit(office, {"tests/test_all.py": PYTEST, "Makefile": "test:\n\tfalse\n"})
    office.git("rm", "-q", "--cached", "plans/greet.md")
    office.git("commit", "-qm", "no plan yet")
    (office.shop / "notes").write_text("staged, and not ours\n")
    office.git("add", "notes")
    terminal.enter("asbuilt run greet --script ../script.toml")
    terminal.await_words("Use 1?")
    terminal.type("7")
    terminal.await_words("is no answer")
    terminal.type("false")
    terminal.await_words("Use 1? [1/2/3/4/command/none]")
    terminal.type("python -m pytest -q -k one")
    terminal.await_words("Use 5?")
    terminal.type("1")
    terminal.await_words("Commit asbuilt.toml and plans/greet.md?")
    terminal.type("y")
    assert terminal.await_words("Run it?") == snapshot("""\
Tests  found 3 ways to test this repository
  1  python -m pytest -q             ran 2, failed 1  (tests/test_all.py)
  2  python -m unittest discover     exit 0, no test ran
  3  make test (by exit code alone)
     exit 2: make: *** [Makefile:2: test] Error 1
Use 1? [1/2/3/command/none] 7
"7" is no answer: type one of 1/2/3/command/none.
Use 1? [1/2/3/command/none] false
Trying false on a clean checkout
  4  false                           exit 1
Use 1? [1/2/3/4/command/none] python -m pytest -q -k one
Trying python -m pytest -q -k one on a clean checkout
  5  python -m pytest -q -k one      ran 1, failed 0
Use 5? [1/2/3/4/5/command/none] 1
Saved in asbuilt.toml: python -m pytest -q
Commit asbuilt.toml and plans/greet.md? [Y/n] y
Committed [HASH]: asbuilt.toml, plans/greet.md
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, when you confirm
1  Greet
  - `greet.py` says hello
  1 check of its own
Run it? [Y/n]
""")
    terminal.type("n")
    terminal.await_words("exit 0")
    assert office.git("show", "--stat", "--format=%an: %s", "HEAD") == snapshot("""\
A Person: Set the test command

 asbuilt.toml   |  2 ++
 plans/greet.md | 33 +++++++++++++++++++++++++++++++++
 2 files changed, 35 insertions(+)\
""")
    assert office.git("status", "--short") == "A  notes"
    terminal.enter("asbuilt run greet --script ../script.toml")
    assert "Use 1?" not in terminal.await_words("Run it?")
    terminal.type("n")
    terminal.await_words("exit 0")


def test_a_run_that_cannot_work_is_refused_before_its_tests_are_tried(
    office: Office, terminal: Terminal
) -> None:
    _commit(office, {"tests/test_all.py": PYTEST})
    terminal.enter("asbuilt run greet --agent nowhere")
    assert "Trying" not in terminal.await_words("error:", "Next:", "exit ")


def test_an_attended_run_whose_setup_fails_is_refused_before_an_agent_starts(terminal: Terminal) -> None:
    office = terminal.office
    _commit(office, {"tests/test_all.py": PYTEST})
    office.asbuilt("config", "set", "checks.setup", "echo no such package; exit 3")
    terminal.enter("asbuilt run greet --script ../script.toml")
    assert terminal.await_words("exit 4") == snapshot("""\
$ asbuilt run greet --script ../script.toml; echo exit $?
Trying python -m pytest -q on a clean checkout
Setting up: echo no such package; exit 3
Tests  found 1 way to test this repository
  1  python -m pytest -q
     setup `echo no such package; exit 3` failed: exit 3: no such package
     (tests/test_all.py)
error: the setup failed on a clean checkout: echo no such package; exit 3
  Why:  Without it no test runs, so nothing could be proven. No agent was
        started. Fix what its output names, or set another one; none, if the
        tests need no setup.
  Next: asbuilt config set checks.setup "<command>"
        # with your own command, for example npm ci
exit 4
$
""")
    assert office.asbuilt("log", "greet").splitlines()[0] != "exit 0"
    assert not [*office.state.glob("runs/*")]
    refused = office.asbuilt("config", "set", "checks.setup", "<command>")
    assert refused == snapshot("""\
exit 2
--- stderr
error: "<command>" is a placeholder, not a value of checks.setup
  Why:  A hint shows it in place of your own value.
  Next: asbuilt config show checks.setup
        # lists the values that it accepts
""")


def test_tests_that_cannot_be_counted_are_offered_by_exit_code_and_prove_the_base(
    terminal: Terminal,
) -> None:
    office = terminal.office
    _commit(office, {"package.json": '{"name": "shop", "scripts": {"test": "node -e 1"}}\n'})
    terminal.enter("asbuilt run greet --script ../script.toml")
    terminal.await_words("Which command runs the tests?")
    terminal.type("2")
    terminal.await_words("Commit asbuilt.toml?")
    terminal.type("perhaps")
    terminal.await_words('"perhaps" is no answer')
    terminal.type("y")
    assert terminal.await_words("Run it?") == snapshot("""\
$ asbuilt run greet --script ../script.toml; echo exit $?
Trying npm test on a clean checkout
Setting up: HUSKY=0 npm install --no-audit --no-fund --no-package-lock
Tests  found 2 ways to test this repository
  1  npm test
     exit 0, and the output does not say how many tests ran (package.json)
  2  npm test (by exit code alone)  exit 0, by exit code alone  (package.json)
Which command runs the tests? [1/2/command/none] 2
Saved in asbuilt.toml: npm test (by exit code alone)
Commit asbuilt.toml? [Y/n] perhaps
"perhaps" is no answer; type y or n.
Commit asbuilt.toml? [Y/n] y
Committed [HASH]: asbuilt.toml
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, when you confirm
1  Greet
  - `greet.py` says hello
  1 check of its own
Run it? [Y/n]
""")
    terminal.type("n")
    terminal.await_words("exit 0")
    assert office.run("--dry-run") == snapshot("""\
exit 0
--- stdout
greet   plans/greet.md
○ 1   Greet
  - `greet.py` says hello
  1 check of its own
Tests    npm test (by exit code alone)
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, when you confirm
--- stderr
Nothing was written.
""")
