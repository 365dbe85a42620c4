"""After a landing that was refused: the next step, and an undo of what never landed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inline_snapshot import snapshot

from asbuilt.events.landings import LandingUndone
from tests.cli.screens import shown

if TYPE_CHECKING:
    from tests.cli.nights import Night


def test_an_undo_of_work_that_never_landed_reports_no_revert(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "18:00:00")
    story.prove("18:30:00", "1", "4f1c9a2")
    story.over("18:31:00", "failed", "Not landed: limit.py changed on main too.")
    undo = quiet.plan("rate-limit", "19:00:00", kind="undo")
    gone = LandingUndone(reverted=False, kept="refs/asbuilt/undone/7", commits=("4f1c9a2".ljust(40, "0"),))
    undo.append("19:01:00", gone, "undone")
    undo.over("19:01:00", "undone", gone.words)
    assert shown(quiet, ("status", "rate-limit"), "plain", 80).partition("needs 2a, 2b\n")[2] == snapshot("""\
Undone 20:01: nothing had landed; the proven work is kept under
refs/asbuilt/undone/7; the plan is open again.
--- stderr
Next: asbuilt run rate-limit
""")


def test_a_conflict_has_a_next_step_and_an_alternative(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "18:00:00")
    following = "`git switch main && git merge asbuilt/rate-limit`"
    other = "drop the proven work, to run it again: `asbuilt land rate-limit --undo`"
    story.over("18:31:00", "failed", "Not landed: limit.py changed on main too.", following, other)
    shows = shown(quiet, ("status", "rate-limit"), "plain", 120)
    assert shows.partition("--- stderr\n")[2] == snapshot("""\
Next: git switch main && git merge asbuilt/rate-limit
  or  drop the proven work, to run it again: asbuilt land rate-limit --undo
""")
