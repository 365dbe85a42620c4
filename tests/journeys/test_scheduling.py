"""A plan that runs by itself, as a person puts it on, looks at it, hurries it and ends it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.journeys.test_commands import Office

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.crash


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    made = Office(tmp_path)
    made.environ["ASBUILT_TIME_ZONE"] = "Asia/Tokyo"
    yield made
    made.close()


def shown(office: Office, *words: str) -> str:
    """Type a command and give what came out, whatever the hour of the day is."""
    said = office.asbuilt(*words)
    said = re.sub(r"(\b[MTWFS][a-z]{2} \d\d [A-Z][a-z]{2} )?\[HH:MM\]", "[HH:MM]", said)
    return re.sub(r"\bin (\d+h \[AGE\]|\d+h|\[AGE\])", "in [HOURS]", said)


def test_a_plan_is_put_on_looked_at_hurried_and_taken_off(office: Office) -> None:
    every = ("run", "greet", "--every", "4h", "--script", str(office.script))
    assert shown(office, *every) == snapshot("""\
exit 0
--- stdout
Scheduled greet: one phase, every 4 hours, Asia/Tokyo.
  [HH:MM], [HH:MM], [HH:MM]
  Implies --auto.
--- stderr
Agents   scripted implements and verifies, in two processes
Cost     no past runs to go by; capped at $15.00 (API prices) a run
Lands    on main, by cherry-pick, when proven
! Fires only while the worker lives: asbuilt worker install survives restarts.
Stop: asbuilt stop greet    Early: asbuilt now greet
""")
    assert shown(office, "next") == snapshot("""\
exit 0
--- stdout
greet          in [HOURS], [HH:MM] JST: asbuilt run greet --auto
""")
    assert office.git("log", "--format=%s", "main") == "start"
    assert shown(office, "now", "greet") == snapshot("""\
exit 0
--- stdout
greet.1 landed on main: 1 phase proven, [AGE].
--- stderr
[TIME] greet.1 -   START     on [HASH]
[TIME] greet.1 -   TESTS     skipping test gate
[TIME] greet.1 -   SETUP     PASS no setup is set
[TIME] greet.1 -   BASELINE  PASS skipping test gate: there are no tests; whe…
[TIME] greet.1 1   IMPLEMENT attempt 1, scripted
[TIME] greet.1 1   SAYS DONE agent: "done"
[TIME] greet.1 1   PASS      every check that asbuilt ran
[TIME] greet.1 1   VERIFY    another agent judges attempt 1
[TIME] greet.1 1   VERDICT   verifier says PASS
[TIME] greet.1 1   PROVEN    [HASH]
[TIME] greet.1 -   TOGETHER  PASS
[TIME] greet.1 -   LANDED    main [HASH]
Scheduled every 4h; next [HH:MM] JST, in [HOURS].
""")
    assert office.git("log", "--format=%s", "main").splitlines() == [
        "Mark plans/greet.md", "Greet", "start",
    ]  # fmt: skip
    status = " ".join(shown(office, "status", "greet").split())
    assert status.endswith("Its next phase is run by itself: every 4h; next [HH:MM] JST, in [HOURS].")
    assert shown(office, "stop", "greet") == snapshot("""\
exit 0
--- stdout
greet is no longer scheduled (4h).
""")
    assert shown(office, "next") == snapshot("""\
exit 0
--- stdout
Nothing is due by itself here: no active schedule.
""")
    assert shown(office, "now") == snapshot("""\
exit 0
--- stdout
No active schedule.
--- stderr
Next: asbuilt run PLAN --every "4h"
""")


def test_a_plan_can_be_put_on_and_run_at_once_and_all_of_them_taken_off(office: Office) -> None:
    daily = ("run", "greet", "--every", "day at 9am", "--now", "--script", str(office.script))
    assert office.asbuilt(*daily).splitlines()[:3] == snapshot(
        ["exit 0", "--- stdout", "Scheduled greet: one phase, every day at [HH:MM], Asia/Tokyo."]
    )
    assert office.git("log", "--format=%s", "main").splitlines() == ["Mark plans/greet.md", "Greet", "start"]
    assert shown(office, "next") == snapshot("""\
exit 0
--- stdout
greet          in [HOURS], [HH:MM] JST: asbuilt run greet --auto
""")
    assert shown(office, "stop", "--all") == snapshot("""\
exit 0
--- stdout
greet is no longer scheduled (day at [HH:MM]).
""")
    assert shown(office, "next").splitlines()[2:] == ["Nothing is due by itself here: no active schedule."]
