"""An agent is said to be fine only while it is heard, young, and at its first try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.lifecycle.status.health import judge
from tests.cli.nights import ago
from tests.cli.screens import printed, shown

if TYPE_CHECKING:
    from tests.cli.nights import Night


def _why(night: Night, name: str = "rate-limit") -> str:
    return shown(night, ("status", name), "plain", 80)


def test_an_agent_that_is_heard_and_young_is_fine(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "21:20:00")
    story.begin("21:22:00", "1")
    story.heard("21:37:34", "1.1", ("21:37:34", "Edit", "src/bucket.py"))
    assert _why(quiet) == snapshot("""\
exit 0
--- stdout
rate-limit   running, 0 of 4 phases done (0%)
● 1   Token bucket               implementing               since 22:22
○ 2a  Redis store                needs 1
○ 2b  Limits per API key         needs 1
○ 3   Middleware and 429         needs 2a, 2b
Fine. claude works on phase 1, attempt 1, since 22:22; last sign 6s ago.
Restarts after 15m of silence (2h at most).
  started   22:22, 15m ago; 1 tool call; 0 retries
  last call Edit src/bucket.py, 6s ago
--- stderr
Next: asbuilt watch rate-limit
  or  end it: asbuilt stop rate-limit
""")


def test_an_agent_that_is_silent_is_stalled(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "21:02:00")
    story.begin("21:02:10", "1")
    story.heard("21:23:40", "1.1", ("21:23:40", "Bash", "docker compose up redis"))
    assert _why(quiet) == snapshot("""\
exit 0
--- stdout
rate-limit   running, 0 of 4 phases done (0%)
● 1   Token bucket               implementing               since 22:02
○ 2a  Redis store                needs 1
○ 2b  Limits per API key         needs 1
○ 3   Middleware and 429         needs 2a, 2b
Stalled: silent for 14m (allowed: 10m). claude works on phase 1, attempt 1,
since 22:02; last sign 14m ago. Restarts after 15m of silence (2h at most).
  started   22:02, 35m ago; 1 tool call; 0 retries
  last call Bash docker compose up redis, 14m ago
--- stderr
Next: asbuilt watch rate-limit
  or  end it: asbuilt stop rate-limit
""")


def test_an_agent_that_had_to_begin_anew_twice_is_not_fine(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "21:20:00")
    story.begin("21:20:10", "1")
    story.end("21:25:00", "1", ending="crashed", reason="gone")
    story.begin("21:25:01", "1", 2)
    story.end("21:30:00", "1", 2, ending="crashed", reason="gone")
    story.begin("21:30:01", "1", 3)
    story.heard("21:37:30", "1.3", ("21:37:30", "Read", "src/bucket.py"))
    assert _why(quiet) == snapshot("""\
exit 0
--- stdout
rate-limit   running, 0 of 4 phases done (0%)
● 1   Token bucket               implementing, attempt 3    since 22:30
○ 2a  Redis store                needs 1
○ 2b  Limits per API key         needs 1
○ 3   Middleware and 429         needs 2a, 2b
Not fine: 2 retries. claude works on phase 1, attempt 3, since 22:30; last sign
10s ago. Fails after 15m of silence (2h at most).
  started   22:30, 7m ago; 1 tool call; 2 retries
  last call Read src/bucket.py, 10s ago
--- stderr
Next: asbuilt watch rate-limit
  or  end it: asbuilt stop rate-limit
""")


@given(st.floats(0, 10_000), st.floats(0, 10_000), st.integers(0, 5), st.booleans())
def test_fine_is_never_said_of_an_agent_that_is_gone_silent_long_at_it_or_retried(
    ran_s: float,
    silent_s: float,
    retries: int,
    is_alive: bool,  # noqa: FBT001 - drawn
) -> None:
    is_fine = judge(ran_s=ran_s, silent_s=silent_s, retries=retries, is_alive=is_alive) == "fine"
    assert is_fine == (is_alive and ran_s <= 30 * 60 and silent_s <= 10 * 60 and retries < 2)


def test_an_agent_whose_process_is_gone_is_not_fine(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "21:20:00")
    story.begin("21:22:00", "1")
    story.heard("21:37:34", "1.1")
    quiet.open.close()
    quiet.wake()
    assert _why(quiet).splitlines()[2:4] == snapshot(
        [
            "rate-limit   running, 0 of 4 phases done (0%)",
            "● 1   Token bucket               implementing               since 22:22",
        ]
    )


@pytest.mark.parametrize(
    ("begun", "heard", "crashes", "is_alive", "verdict"),
    [
        (15, 1, 0, True, "Fine. claude works on phase 1, attempt 1"),
        (25, 14, 0, True, "Stalled: silent for 14m (allowed: 10m)."),
        (35, 1, 0, True, "Not fine: at work for 35m."),
        (15, 1, 2, True, "Not fine: 2 retries."),
        (15, 1, 0, False, "Not fine: the agent's process is gone; the worker starts it again."),
    ],
)
def test_the_command_says_fine_only_of_an_agent_that_is_heard_young_and_not_retried(
    quiet: Night,
    begun: int,
    heard: int,
    crashes: int,
    is_alive: bool,  # noqa: FBT001 - a case
    verdict: str,
) -> None:
    story = quiet.plan("rate-limit", ago(60))
    for number in range(1, crashes + 1):
        story.begin(ago(50), "1", number)
        story.end(ago(40), "1", number, ending="crashed", reason="gone")
    story.begin(ago(begun), "1", crashes + 1)
    story.heard(ago(heard), f"1.{crashes + 1}", (ago(heard), "Edit", "src/bucket.py"))
    if not is_alive:
        quiet.open.close()
        quiet.wake()
    said = " ".join(printed(quiet, "status", "rate-limit").split())
    assert verdict in said
    assert f"{begun}m ago; 1 tool call; {crashes} retries last call Edit src/bucket.py, {heard}m ago" in said
