"""What the frame says while a run is mended, waits or lands, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from inline_snapshot import snapshot

from asbuilt.cli.live.frame import frame
from asbuilt.cli.wording.moves import AT_WORK
from asbuilt.lifecycle.run.moves import Attempt, End, Move, Verify, VerifyTogether, Wait
from asbuilt.lifecycle.status.run_state import PhaseProgress, WaitsFor
from tests.cli import live
from tests.cli.live import (
    ASKS,
    CUT_OFF,
    FIXES,
    LANDS,
    NARROW,
    PARKED,
    WIDE,
    WORKS,
    drawn,
)

if TYPE_CHECKING:
    from asbuilt.cli.live.frame import Moment

pytestmark = pytest.mark.usefixtures("in_utc")


def test_while_it_is_mended_the_failure_is_shown() -> None:
    assert drawn(frame(FIXES, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m   1 of 4 proven   $1.31
● 2a  Redis store        fixing, cycle 1 of 2                                 4m
○ 2b  Limits per API key
○ 3   Middleware and 429 needs 2a, 2b
  ✗ uv run pytest tests/limits/test_store.py -q: FAIL, exit 1
  claude: says "I will look at the store"                    6s ago, 1 tool call
  claude works on phase 2a, attempt 2, since 22:05. Restarts after 15m of
  silence (2h at most).
Ctrl-C leaves it running. Lands on main at the end.
""")
    assert drawn(frame(FIXES, NARROW)) == snapshot("""\
rate-limit.1  17m  1 of 4 proven  $1.31
● 2a  Redis store   fixing, cycle 1 of 2
○ 2b  Limits per A…
○ 3   Middleware a… needs 2a, 2b
  ✗ uv run pytest tests/limits/test_sto…
  claude: says "I will …  6s ago, 1 call
  claude works on phase 2a, attempt 2,
  since 22:05. Restarts after 15m of
  silence (2h at most).
Ctrl-C leaves it running.
""")


def test_a_parked_run_says_until_when() -> None:
    assert drawn(frame(PARKED, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m   1 of 4 proven   $1.31
◇ 2a  Redis store        parked                                               4m
○ 2b  Limits per API key
○ 3   Middleware and 429 needs 2a, 2b
  Parked since 22:05: usage limit of the agent. Continues automatically Sun 15
  Nov 01:06 UTC, in 3h; files are kept.
Ctrl-C leaves it running. Lands on main at the end.
""")


def test_a_run_that_asks_says_how_to_answer() -> None:
    assert drawn(frame(ASKS, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m   2 of 4 proven   $1.31
○ 2b  Limits per API key
○ 3   Middleware and 429 needs 2a, 2b
  Waits for you: a7 "continue with phase 2b?", asked 2h ago by rate-limit.1. No
  agent runs until you answer. asbuilt approve yes a7
Ctrl-C leaves it running. Lands when you confirm.
""")
    assert drawn(frame(ASKS, NARROW)) == snapshot("""\
rate-limit.1  17m  2 of 4 proven  $1.31
○ 2b  Limits per API key
○ 3   Middleware and 429 needs 2a, 2b
  Waits for you: a7 "continue with phase
  2b?", asked 2h ago by rate-limit.1. No
  agent runs until you answer. asbuilt
  approve yes a7
Ctrl-C leaves it running.
""")


def test_a_run_that_wants_a_sign_off_waits_for_just_that() -> None:
    asked = live.question("sign off a.py: ci changed")._replace(kind="sign-off")
    waits = live.moment(WaitsFor("person"), live.phases("proven"), of=live.run("waiting"), asks=[asked])
    assert '  Waits for your sign-off: a7 "sign off a.py: ci changed", asked' in drawn(frame(waits, WIDE))
    several = waits._replace(view=waits.view._replace(questions=[*waits.view.questions] * 4))
    assert "by rate-limit.1; 3 more questions wait." in " ".join(drawn(frame(several, WIDE)).split())


def test_when_all_is_proven_it_says_that_it_lands() -> None:
    assert drawn(frame(LANDS, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m   4 of 4 proven   $1.31
  asbuilt: lands what is proven
Ctrl-C leaves it running. Lands on main at the end.
""")


def test_without_a_worker_nothing_is_said_to_go_on() -> None:
    assert drawn(frame(CUT_OFF, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m   1 of 4 proven   $1.31
● 2a  Redis store        checking                                             4m
○ 2b  Limits per API key
○ 3   Middleware and 429 needs 2a, 2b
! No worker is running; the run waits.
""")


def test_colour_means_failed_or_needs_you_and_no_claim_is_green() -> None:
    def styles(moment: Moment) -> list[tuple[str, str]]:
        return [(piece.style, piece.text) for row in frame(moment, WIDE) for piece in row if piece.style]

    assert styles(FIXES) == snapshot(
        [
            ("bold", "rate-limit.1"),
            ("dim", "                                 4m"),
            ("red", "✗"),
            ("dim", "6s ago, 1 tool call"),
            ("dim", "Ctrl-C leaves it running. Lands on main at the end."),
        ]
    )
    assert styles(CUT_OFF) == snapshot(
        [
            ("bold", "rate-limit.1"),
            ("dim", "                                             4m"),
            ("yellow", "! No worker is running; the run waits."),
        ]
    )


def test_of_many_phases_the_one_under_way_is_shown_and_the_rest_is_counted() -> None:
    many = [PhaseProgress(str(number), f"Part {number}", "ready", "") for number in range(1, 40)]
    many[30] = many[30]._replace(state="implementing", since=live.ago(5), attempt=1)
    shown = WORKS._replace(view=WORKS.view._replace(phases=many))
    assert drawn(frame(shown, WIDE)) == snapshot("""\
rate-limit.1   since 21:49, 17m   0 of 39 proven   $1.31
● 31  Part 31  implementing, attempt 1                                        5s
○ 1   Part 1
○ 2   Part 2
○ 3   Part 3
○ 4   Part 4
○ 5   Part 5
○ 6   Part 6
○ 7   Part 7
○ 31 more
  claude: Edit src/api/limits/store.py                     6s ago, 23 tool calls
  claude works on phase 2a, attempt 1, since 22:02. Restarts after 15m of
  silence (2h at most).
Ctrl-C leaves it running. Lands on main at the end.
""")
    assert len(frame(shown, WIDE._replace(height=5))) == 5


def test_everything_that_asbuilt_does_itself_has_words() -> None:
    others = {one.__name__ for one in (Attempt, Verify, VerifyTogether, Wait, End)}
    told = {move.__name__ for move in get_args(Move)} - others
    assert told == AT_WORK.keys()
