"""What failed is shown whole, wherever one looks: command, place, ending, last lines, and what helps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from inline_snapshot import snapshot

from asbuilt.events.attempts import ChecksDone, TreeKept
from asbuilt.events.phases import BaselineDone, SetupDone
from asbuilt.proof.evidence import Evidence
from tests.cli.nights import Night, Story
from tests.cli.screens import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.events.event import Outcome

TREE = "3fa9c12".ljust(40, "0")


@pytest.fixture
def night(tmp_path: Path, shop: Path) -> Iterator[Night]:
    (shop / "plans").mkdir()
    (shop / "plans" / "shop.md").touch()
    night = Night(tmp_path, shop)
    yield night
    night.close()


def evidence(night: Night, name: str, command: str, code: int | None, output: bytes, **more: Any) -> str:  # noqa: ANN401
    """Keep what one command has shown, and return the digest that an event names."""
    fields = {
        "name": name, "argv": tuple(command.split()), "exit_code": code, "outcome": "INDETERMINATE",
        "why": f"exit {code}", "ran": None, "skipped": None, "failed": None,
        "output": night.blobs.put(output), "duration_s": 12.4, "tree": TREE, **more,
    }  # fmt: skip
    return night.blobs.put(json.dumps([Evidence(**fields)._asdict()]).encode())


def made_ready(night: Night, slug: str = "shop") -> Story:
    return night.plan(slug, "20:00:00", {"1": ("Cart", [])})


def setup_fails(night: Night) -> None:
    story = made_ready(night)
    output = b"\x1b[31mnpm ERR!\x1b[0m code E401\nnpm ERR! using token=abcdef0123456789\n"
    shows = evidence(night, "setup", "npm ci", 1, output)
    done = SetupDone(outcome="INDETERMINATE", command="npm ci", digest="d1", why="exit 1", evidence=shows)
    story.append("20:01:00", done, "setup/2")
    story.over("20:01:01", "failed", "the setup failed, so nothing could be proven: `npm ci`: exit 1")


def base_is_red(night: Night) -> None:
    story = made_ready(night)
    shows = evidence(night, "tests", "mvn -q test", 127, b"sh: 1: exec: mvn: not found\n", outcome="FAIL")
    why = "exit 127, and no summary of the tests"
    story.append("20:01:00", BaselineDone(outcome="INDETERMINATE", evidence=shows, why=why), "baseline/2")
    reason, following = (
        "the tests could not be run on the base.",
        'asbuilt config set checks.tests "mvn -q test"',
    )
    story.over("20:01:01", "failed", reason, following)


def check_ends(night: Night, code: int | None, output: bytes, *, seconds: float = 12.4) -> None:
    story = made_ready(night)
    story.begin("20:02:00", "1")
    story.end("20:03:00", "1")
    outcome: Outcome = "INDETERMINATE" if code is None else "FAIL"
    shows = evidence(night, "make e2e", "make e2e", code, output, outcome=outcome, duration_s=seconds)
    commit, tree = "1".ljust(40, "c"), "1".ljust(40, "d")
    kept = TreeKept(phase="1", number=1, commit=commit, tree=tree, changed=True)
    story.append("20:03:01", kept, "1/1/kept")
    failures = (f"make e2e: {outcome}",)
    done = ChecksDone(phase="1", number=1, outcome=outcome, failures=failures, evidence=shows)
    story.append("20:03:02", done, "1/1/checks")
    story.over("20:03:03", "failed", f"phase 1 is not proven after 2 fixes: make e2e: {outcome}")


def agent_does_not_start(night: Night) -> None:
    story = made_ready(night)
    story.begin("20:02:00", "1")
    story.end(
        "20:02:01", "1", ending="crashed", reason="claude ended with exit code 1.", agent="claude",
        command="/usr/bin/claude", folder="/state/workspaces/main", exit_code=1, duration_s=0.4,
        stderr=night.blobs.put(b"bwrap: execvp /usr/bin/claude: No such file or directory\n"),
    )  # fmt: skip
    story.over("20:02:02", "failed", "phase 1: the agent crashed 3 times")


def why(night: Night) -> str:
    return shown(night, ("status", "shop"), "plain", 80)


def told(night: Night, *command: str) -> dict[str, Any]:
    text = shown(night, (*command, "--json"), "plain", 80)
    found: dict[str, Any] = json.loads(text.partition("--- stdout\n")[2])
    return found


def test_a_setup_that_failed_is_shown_with_its_output_and_without_its_secrets(night: Night) -> None:
    setup_fails(night)
    assert why(night) == snapshot("""\
exit 0
--- stdout
shop   failed, 0 of 1 phase done (0%), next 1
○ 1   Cart                       ready
Failed 21:01: the setup failed, so nothing could be proven: `npm ci`: exit 1
  failed    setup
  command   npm ci
  where     a clean checkout of tree 3fa9c12
  result    exit 1, after 12s
  | npm ERR! code E401
  | npm ERR! using token=[secret]
  cause     A registry asks for a login, and the setup has none.
--- stderr
Next: asbuilt config set setup.credentials "npm, pip, netrc, cargo" &&
      asbuilt run shop
""")


def test_a_base_whose_tests_could_not_run_names_the_missing_program_and_one_next_command(
    night: Night,
) -> None:
    base_is_red(night)
    assert shown(night, ("status", "shop"), "plain", 80) == snapshot("""\
exit 0
--- stdout
shop   failed, 0 of 1 phase done (0%), next 1
○ 1   Cart                       ready
Failed 21:01: the tests could not be run on the base.
  failed    tests on the base
  command   mvn -q test
  where     a clean checkout of tree 3fa9c12
  result    exit 127, after 12s
  | sh: 1: exec: mvn: not found
  cause     The sandbox has no program mvn that can be started.
--- stderr
Next: asbuilt run shop
      # after you install mvn
  or  if its name is wrong: asbuilt config set checks.tests "<command>"
""")


def test_a_check_that_fails_by_its_own_is_shown_and_the_run_is_to_be_resumed(night: Night) -> None:
    check_ends(night, 1, b"".join(b"line %d\n" % number for number in range(40)))
    assert why(night) == snapshot("""\
exit 0
--- stdout
shop   failed, 0 of 1 phase done (0%), next 1
✗ 1   Cart                       failed, not proven         21:03
Failed 21:03: phase 1 is not proven after 2 fixes: make e2e: FAIL
  failed    check
  command   make e2e
  where     a clean checkout of tree 3fa9c12
  result    exit 1, after 12s
  | line 25
  | line 26
  | line 27
  | line 28
  | line 29
  | line 30
  | line 31
  | line 32
  | line 33
  | line 34
  | line 35
  | line 36
  | line 37
  | line 38
  | line 39
--- stderr
Next: asbuilt run shop
  or  with a note for the agent: asbuilt run shop -m "what to do differently"
""")


def test_a_check_that_was_ended_by_its_time_limit_names_the_setting_that_raises_it(night: Night) -> None:
    check_ends(night, None, b"starting server\n", seconds=2_700)
    assert why(night) == snapshot("""\
exit 0
--- stdout
shop   failed, 0 of 1 phase done (0%), next 1
✗ 1   Cart                       failed, not proven         21:03
Failed 21:03: phase 1 is not proven after 2 fixes: make e2e: INDETERMINATE
  failed    check
  command   make e2e
  where     a clean checkout of tree 3fa9c12
  result    ended after 45m, its time limit
  | starting server
--- stderr
Next: asbuilt config set checks.minutes 90 && asbuilt run shop
""")


def test_a_check_that_was_killed_names_the_signal(night: Night) -> None:
    check_ends(night, 137, b"")
    assert why(night) == snapshot("""\
exit 0
--- stdout
shop   failed, 0 of 1 phase done (0%), next 1
✗ 1   Cart                       failed, not proven         21:03
Failed 21:03: phase 1 is not proven after 2 fixes: make e2e: FAIL
  failed    check
  command   make e2e
  where     a clean checkout of tree 3fa9c12
  result    killed by SIGKILL, often out of memory, after 12s
  printed   nothing
--- stderr
Next: asbuilt run shop
  or  with a note for the agent: asbuilt run shop -m "what to do differently"
""")


def test_an_agent_that_does_not_start_is_shown_with_what_its_process_printed(night: Night) -> None:
    agent_does_not_start(night)
    assert why(night) == snapshot("""\
exit 0
--- stdout
shop   failed, 0 of 1 phase done (0%), next 1
✗ 1   Cart                       failed, not proven         21:02
Failed 21:02: phase 1: the agent crashed 3 times
  failed    agent
  command   /usr/bin/claude
  where     /state/workspaces/main
  result    exit 1
  | bwrap: execvp /usr/bin/claude: No such file or directory
  cause     The sandbox of the agent has no program /usr/bin/claude that can be
            started.
--- stderr
Next: asbuilt doctor agents claude && asbuilt run shop
  or  see what its agent printed: asbuilt log shop.1.1.1
""")


def test_the_log_shows_a_failure_below_its_event(night: Night) -> None:
    setup_fails(night)
    assert shown(night, ("log", "shop"), "plain", 80) == snapshot("""\
exit 0
--- stdout
21:00:00  -   asked      mode finish
21:00:00  -   claim      taken
21:00:00  -   start      on 7be20c1
21:00:00  -   tests      uv run pytest -q (configured)
21:00:00  -   workspace  made
21:00:00  -   setup      PASS no setup is set
21:00:00  -   baseline   PASS 214 ran
21:01:00  -   setup      INDETERMINATE exit 1
  failed    setup
  command   npm ci
  where     a clean checkout of tree 3fa9c12
  result    exit 1, after 12s
  | npm ERR! code E401
  | npm ERR! using token=[secret]
  cause     A registry asks for a login, and the setup has none.
21:01:01  -   failed     the setup failed, so nothing could be proven: `npm ci`:
                         exit 1
21:01:01  -   claim      released
""")


def test_the_report_shows_the_failure_on_the_screen_and_on_its_page(night: Night) -> None:
    setup_fails(night)
    assert shown(night, ("report", "shop"), "plain", 80) == snapshot("""\
exit 0
--- stdout
shop.1   failed 21:01, 1m
No agent worked in this run.
✗ the setup failed, so nothing could be proven: `npm ci`: exit 1
  failed    setup
  command   npm ci
  where     a clean checkout of tree 3fa9c12
  result    exit 1, after 12s
  | npm ERR! code E401
  | npm ERR! using token=[secret]
  cause     A registry asks for a login, and the setup has none.
--- stderr
Next: asbuilt config set setup.credentials "npm, pip, netrc, cargo" &&
      asbuilt run shop
  or  open the page: asbuilt report shop.1 --open
""")
    page = shown(night, ("report", "shop", "--markdown"), "plain", 80)
    _, _, told_there = page.partition("\nFailed: ")
    assert told_there.partition("\n## ")[0].replace(". ", ".\n") == snapshot("""\
setup, `npm ci`, in a clean checkout of tree 3fa9c12: exit 1, after 12s.
A registry asks for a login, and the setup has none.
Next: `asbuilt config set setup.credentials "npm, pip, netrc, cargo"`.
From its output:

```
npm ERR! code E401
npm ERR! using token=[secret]
```
""")


def test_every_screen_gives_a_script_the_same_failure(night: Night) -> None:
    setup_fails(night)
    failure = told(night, "status", "shop")["plans"][0]["failures"]
    assert failure == snapshot(
        [
            {
                "what": "setup",
                "command": "npm ci",
                "folder": "a clean checkout of tree 3fa9c12",
                "exit_code": 1,
                "signal": None,
                "timed_out": False,
                "duration_s": 12.4,
                "lines": ["npm ERR! code E401", "npm ERR! using token=[secret]"],
                "cause": "A registry asks for a login, and the setup has none.",
                "next": 'asbuilt config set setup.credentials "npm, pip, netrc, cargo"',
            }
        ]
    )
    logged = [one for event in told(night, "log", "shop")["events"] for one in event["failures"]]
    [status] = told(night, "status", "shop")["plans"]
    report = told(night, "report", "shop")
    assert (logged, status["run"]["failures"], report["failures"]) == (failure, failure, failure)
    following = 'asbuilt config set setup.credentials "npm, pip, netrc, cargo"'
    assert (status["run"]["next"], report["next"]) == (following, following)


def test_an_older_journal_is_shown_by_what_it_holds(night: Night) -> None:
    story = made_ready(night)
    output = night.blobs.put(b"E: could not install\n")
    done = SetupDone(outcome="INDETERMINATE", command="make deps", digest="d1", why="exit 2", output=output)
    story.append("20:01:00", done, "setup/2")
    story.over("20:01:01", "failed", "the setup failed, so nothing could be proven: `make deps`: exit 2")
    assert why(night) == snapshot("""\
exit 0
--- stdout
shop   failed, 0 of 1 phase done (0%), next 1
○ 1   Cart                       ready
Failed 21:01: the setup failed, so nothing could be proven: `make deps`: exit 2
  failed    setup
  command   make deps
  where     a clean checkout
  | E: could not install
--- stderr
Next: asbuilt config set checks.setup "<command>" && asbuilt run shop
      # with your own command, for example npm ci
""")


def test_a_hostile_output_steers_no_terminal(night: Night) -> None:
    check_ends(night, 1, "\x1b]0;owned\x07a\u202eb\x1b[2J\x07 bell\n".encode())
    assert "  | a\\u202eb\\x07 bell\n" in why(night)
