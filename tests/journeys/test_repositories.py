"""Each repository has a journal of its own: before anything ran, in a copy, and after a move."""

from __future__ import annotations

import subprocess

import pytest
from inline_snapshot import snapshot

from tests.journeys.test_commands import Office, office

__all__ = ["office"]

pytestmark = pytest.mark.crash


def test_looking_before_anything_ran_makes_nothing(office: Office) -> None:
    assert office.asbuilt("status") == snapshot("""\
exit 0
--- stdout
Nothing has run here.
--- stderr
Next: asbuilt plan list
""")
    assert office.asbuilt("status", "greet") == snapshot("""\
exit 0
--- stdout
greet   not run, 0 of 4 phases done (0%), next 1
○ 1   Greet                      ready
○ 2a  Part                       needs 1
○ 2b  Shout                      needs 1
○ 3   Both                       needs 2a, 2b
asbuilt has not run it yet.
--- stderr
Next: asbuilt run greet
""")
    assert office.asbuilt("approve") == snapshot("""\
exit 0
--- stdout
Nothing waits for you here.
--- stderr
Next: asbuilt status
""")
    assert office.asbuilt("claim", "list") == snapshot("""\
exit 0
--- stdout
No plan is claimed here.
""")
    assert office.run("--dry-run", "--finish") == snapshot("""\
exit 0
--- stdout
greet   plans/greet.md
○ 1   Greet
○ 2a  Part
○ 2b  Shout
○ 3   Both
Tests    not set; `asbuilt doctor --tests --save` tries what it finds and saves
         it
Agents   scripted implements and verifies, in separate processes
Cost     Estimate: none yet. Limit: $15.00 (API prices) a run
Lands    on main, when you confirm
--- stderr
Nothing was written.
""")
    assert not office.state.exists()
    assert "asbuilt" not in (office.shop / ".git" / "config").read_text(encoding="utf-8")


def test_a_copy_of_a_repository_has_a_journal_of_its_own(office: Office) -> None:
    assert office.run("--auto").splitlines()[0] == "exit 0"
    copy = office.shop.with_name("copy")
    subprocess.run(["cp", "-a", office.shop, copy], check=True)  # noqa: S607
    office.shop = copy
    assert office.asbuilt("status") == snapshot("""\
exit 0
--- stdout
Nothing has run here.
--- stderr
Next: asbuilt plan list
""")
    assert office.run("--auto").splitlines()[0] == "exit 0"
    assert office.asbuilt("status", "greet") == snapshot("""\
exit 0
--- stdout
greet   landed, 2 of 4 phases done (50%), next 2b
! 1   Greet                      done by its mark
✓ 2a  Part                       landed [HASH]             [HH:MM]
○ 2b  Shout                      ready
○ 3   Both                       needs 2b
Landed on main [HH:MM].
--- stderr
Next: asbuilt run greet
  or  read the report: asbuilt report greet.1
""")


def test_a_repository_that_moved_keeps_its_journal(office: Office) -> None:
    assert office.run("--auto").splitlines()[0] == "exit 0"
    office.shop = office.shop.rename(office.shop.with_name("moved"))
    assert "landed" in office.asbuilt("status", "greet")
