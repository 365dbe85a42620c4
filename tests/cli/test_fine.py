"""An agent is said to be fine only while it is heard, young, and at its first try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.lifecycle.status.health import judge
from tests.cli.screens import shown
from tests.cli.shell.test_reading import quiet

if TYPE_CHECKING:
    from tests.cli.nights import Night

__all__ = ["quiet"]


def _why(night: Night, name: str = "rate-limit") -> str:
    return shown(night, ("why", name), "plain", 80)


def test_an_agent_that_is_heard_and_young_is_fine(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "21:20:00")
    story.begin("21:22:00", "1")
    story.heard("21:37:34", "1.1", ("21:37:34", "Edit", "src/bucket.py"))
    assert _why(quiet) == snapshot("""\
exit 0
--- stdout
rate-limit   Fine: claude works on phase 1 for 15m; last heard 6s ago.
  began       22:22, 15m ago; 1 tool call; 0 retries
  last sign   6s ago
  last call   Edit src/bucket.py, 6s ago
  what comes  Silent 15m, or 2h in all: ended, its tree kept, tried again.
  so far      0 phases proven by rate-limit.1, $0.00
--- stderr
Now instead: asbuilt stop rate-limit
""")


def test_an_agent_that_is_silent_is_stalled(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "21:02:00")
    story.begin("21:02:10", "1")
    story.heard("21:23:40", "1.1", ("21:23:40", "Bash", "docker compose up redis"))
    assert _why(quiet) == snapshot("""\
exit 0
--- stdout
rate-limit   Stalled: claude works on phase 1 and is silent for 14m (allowed:
  10m; ended after 15m).
  began       22:02, 35m ago; 1 tool call; 0 retries
  last sign   14m ago
  last call   Bash docker compose up redis, 14m ago
  what comes  Silent 15m, or 2h in all: ended, its tree kept, tried again.
  so far      0 phases proven by rate-limit.1, $0.00
--- stderr
Now instead: asbuilt stop rate-limit
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
rate-limit   Not fine: claude works on phase 1 after 2 retries; last heard 10s
  ago.
  began       22:30, 7m ago; 1 tool call; 2 retries
  last sign   10s ago
  last call   Read src/bucket.py, 10s ago
  what comes  Silent 15m, or 2h in all: ended, its tree kept, the run fails.
  so far      0 phases proven by rate-limit.1, $0.00
--- stderr
Now instead: asbuilt stop rate-limit
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
            "rate-limit   Not fine: claude works on phase 1, and its process is gone; the",
            "  worker starts it again.",
        ]
    )
