"""What a person sees of a real run whose setup or agent fails: the reason, and one next command."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.journeys.test_commands import Office, office

if TYPE_CHECKING:
    from typing import Any

__all__ = ["office"]
pytestmark = pytest.mark.crash


def run(office: Office) -> str:
    """Run the plan; where the state folder is, is left out."""
    shown = office.run("--finish", "--auto")
    return re.sub(r"(?s)(  where +)/.*?\n(  result)", r"\1[WORKSPACE]\n\2", shown)


def failures(office: Office) -> list[dict[str, Any]]:
    """Give what a script gets of the last failure, without what differs from run to run."""
    told = json.loads(office.asbuilt("status", "greet", "--json").partition("--- stdout\n")[2])
    found: list[dict[str, Any]] = told["plans"][0]["failures"]
    return [{**one, "duration_s": one["duration_s"] is not None} for one in found]


def test_a_setup_that_fails_ends_the_run_with_its_output(office: Office) -> None:
    office.environ["ASBUILT_CHECKS_SETUP"] = "echo installing; echo 'E: no such package' >&2; exit 7"
    assert run(office) == snapshot("""\
exit 1
--- stdout
greet.1 failed: the setup failed, so nothing could be proven: `echo installing;
echo 'E: no such package' >&2; exit 7`: exit 7
  failed    setup
  command   echo installing; echo 'E: no such package' >&2; exit 7
  where     a clean checkout of tree [HASH]
  result    exit 7
  | installing
  | E: no such package
--- stderr
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
greet.1
[TIME] -   START     on [HASH]
[TIME] -   TESTS     none found; only the plan's checks will run
[TIME] -   SETUP     INDETERMINATE exit 7
  failed    setup
  command   echo installing; echo 'E: no such package' >&2; exit 7
  where     a clean checkout of tree [HASH]
  result    exit 7
  | installing
  | E: no such package
[TIME] -   FAILED    the setup failed, so nothing could be proven: `echo…
Next: unset ASBUILT_CHECKS_SETUP && asbuilt run greet
""")
    assert failures(office) == snapshot(
        [
            {
                "what": "setup",
                "command": "echo installing; echo 'E: no such package' >&2; exit 7",
                "folder": "a clean checkout of tree [HASH]",
                "exit_code": 7,
                "signal": None,
                "timed_out": False,
                "duration_s": True,
                "lines": ["installing", "E: no such package"],
                "cause": None,
                "next": 'asbuilt config set checks.setup "<command>"',
            }
        ]
    )


def test_a_wrong_setup_is_set_again_or_removed_from_the_file_that_has_it(office: Office) -> None:
    office.asbuilt("config", "set", "checks.setup", "exit 7")
    another = 'asbuilt config set checks.setup "<command>"'
    for shown in (run(office), office.asbuilt("status", "greet")):
        assert f"Next: {another} && asbuilt run greet\n" in shown
        assert shown.endswith(
            "  or  remove the setup that asbuilt.toml:2 sets:\n      asbuilt config unset checks.setup\n"
        )
    suites = '[[checks.suites]]\nfolder = "web"\ncommand = "npm test"\n'
    with (office.shop / "asbuilt.toml").open("a", encoding="utf-8") as file:
        file.write(suites)
    shown = office.asbuilt("status", "greet")
    assert "Next: asbuilt config unset checks.setup && asbuilt run greet\n" in shown
    assert f"  or  set another than asbuilt.toml:2 does:\n      {another}\n" in shown


def test_an_agent_that_ends_at_once_is_shown_with_what_it_wrote_to_stderr(office: Office) -> None:
    acts = '[{ flood = 24, stream = "stderr" }, { exit = 3 }]'
    office.script.write_text(f"[[turn]]\nacts = {acts}\n", encoding="utf-8")
    shown = run(office)
    assert shown.endswith(
        "Next: asbuilt doctor agents scripted && asbuilt run greet\n"
        "  or  see what its agent printed: asbuilt log greet.1.1.3\n"
    )
    assert "  | xxxxxxxxxxxxxxxxxxxxxxxx\n" in office.asbuilt("log", "greet.1.1.3")
    assert shown.partition("--- stderr\n")[0] == snapshot("""\
exit 1
--- stdout
greet.1 failed: phase 1: crashed 3 times; last: The agent ended with exit code
3.
  failed    agent
  where     [WORKSPACE]
  result    exit 3
  | xxxxxxxxxxxxxxxxxxxxxxxx
""")


def test_an_agent_that_crashes_without_a_word_is_tested_next_and_its_log_is_offered(office: Office) -> None:
    office.script.write_text("[[turn]]\nacts = [{ exit = 3 }]\n", encoding="utf-8")
    assert "  result    exit 3\n  printed   nothing\n" in run(office)
    for shown in (office.asbuilt("status", "greet"), office.asbuilt()):
        assert shown.endswith(
            "Next: asbuilt doctor agents scripted && asbuilt run greet\n"
            "  or  see what its agent printed: asbuilt log greet.1.1.3\n"
        )
