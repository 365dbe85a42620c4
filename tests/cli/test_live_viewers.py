"""What viewers write: to a terminal that obeys, to one that is gone, and to a pipe."""

from __future__ import annotations

import os
import pty
import re
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from inline_snapshot import snapshot

from asbuilt.agents.attempts import FolderAttempts
from asbuilt.cli.live.follow import Listener
from asbuilt.cli.live.region import Region
from asbuilt.cli.live.rows import Piece
from asbuilt.cli.live.viewers import LineViewer, LiveViewer, News, viewer_for
from asbuilt.cli.ui.clock import to_the_second
from asbuilt.cli.ui.screen import Screen, pen_for
from asbuilt.lifecycle.status.run_state import PhaseProgress, WaitsFor
from asbuilt.proof.failure import Failure
from tests.cli.live import CUT_OFF, FIXES, LANDS, NOW, PARKED, WORKS, event, moment, phases, run
from tests.cli.ui.test_screen import Terminal

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from asbuilt.cli.live.frame import Moment

TERM = {"TERM": "xterm-256color"}


def _screen(terminal: Terminal, *, quiet: bool = False, verbose: bool = False, plain: bool = False) -> Screen:
    pen = pen_for(terminal, environ=TERM, plain=plain, no_color=True)
    return Screen(out=pen, err=pen, quiet=quiet, verbose=verbose)


def test_a_frame_is_drawn_over_the_one_before_and_what_is_finished_stays_above() -> None:
    terminal = Terminal()
    region = Region(_screen(terminal).err)
    region.draw([(Piece("one"),), (Piece("two"),)])
    region.draw([(Piece("one"),), (Piece("two"),)])
    region.draw([(Piece("three", "bold"),)], above=[(Piece("done"),)])
    region.ring()
    region.close()
    region.close()
    assert terminal.shown().decode() == snapshot("""\
\x1b[?2026h\x1b[?25l\x1b[?7l\r\x1b[Kone
\x1b[Jtwo\x1b[1A\r\x1b[?7h\x1b[?2026l\x1b[?2026h\x1b[?25l\x1b[?7l\r\x1b[Kdone
\x1b[Jthree\r\x1b[?7h\x1b[?2026l\x07\r\x1b[J\x1b[?25h\
""")


def test_a_terminal_that_is_gone_is_written_to_no_more() -> None:
    main, other = pty.openpty()
    with os.fdopen(other, "w") as stream:
        region = Region(pen_for(stream, environ=TERM, plain=False, no_color=False))
        region.draw([(Piece("one"),)])
        os.close(main)
        region.draw([(Piece("two"),)])
        region.draw([(Piece("three"),)])
        region.close()
        assert region.canvas.width == 80
        # As at the end of a command: what could not be written is thrown away.
        os.dup2(os.open(os.devnull, os.O_WRONLY), other)


def test_only_a_terminal_that_obeys_is_drawn_on() -> None:
    def chosen(screen: Screen) -> type:
        return type(viewer_for(screen, bell=True, person="ann"))

    assert chosen(_screen(Terminal())) is LiveViewer
    assert chosen(_screen(Terminal("latin-1"))) is LiveViewer
    assert {
        chosen(_screen(Terminal(), quiet=True)),
        chosen(_screen(Terminal(), verbose=True)),
        chosen(_screen(Terminal(), plain=True)),
        chosen(_screen(Terminal(tty=False))),
    } == {LineViewer}
    for term in ("dumb", ""):
        pen = pen_for(Terminal(), environ={"TERM": term}, plain=False, no_color=False)
        assert not pen.is_live


def test_the_bell_sounds_unless_it_is_switched_off() -> None:
    for bell, heard in ((True, b"\a"), (False, b"")):
        terminal = Terminal()
        viewer_for(_screen(terminal), bell=bell, person="ann").ring()
        assert terminal.shown() == heard
    terminal = Terminal(tty=False)
    viewer_for(_screen(terminal), bell=True, person="ann").ring()
    assert terminal.shown() == b""


def _lines(*shown: tuple[Moment, float]) -> str:
    """Show moments to a pipe, each so many seconds after NOW."""
    terminal = Terminal(tty=False)
    viewer = LineViewer(_screen(terminal))
    for one, seconds in shown:
        viewer.show([], one._replace(now=_later(seconds)))
    return re.sub(r"\d\d:\d\d:\d\d", "[TIME]", terminal.shown().decode())


def _later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_after_five_silent_minutes_a_line_says_who_is_at_work() -> None:
    assert _lines((WORKS, 0), (WORKS, 299)) == ""
    checking = moment(WaitsFor("asbuilt", "2a", why="Check"), phases("checking"))
    assert _lines((WORKS, 0), (WORKS, 300), (WORKS, 599), (checking, 600), (PARKED, 900)) == snapshot("""\
[TIME] 2a  ALIVE     claude 5m ago, 23 tool calls
[TIME] 2a  ALIVE     asbuilt runs the checks on a clean checkout
[TIME] 2a  ALIVE     parked: usage limit of the agent
""")


def test_a_line_has_the_time_that_the_log_has_in_the_zone_of_the_settings() -> None:
    proven = event("phase.proven", phase="2a", commit="0be77d1" * 5)
    tokyo = WORKS._replace(now=NOW.astimezone(ZoneInfo("Asia/Tokyo")))
    terminal = Terminal(tty=False)
    LineViewer(_screen(terminal)).show([News(proven)], tokyo)
    line = terminal.shown().decode().splitlines()[1]
    assert line == f"{to_the_second(proven.at, tokyo.now)} 2a  PROVEN    0be77d1"
    assert line.startswith("07:06:02 ")


def test_words_stand_in_one_column_whatever_the_stages_are_called() -> None:
    terminal = Terminal(tty=False)
    stages = [PhaseProgress(one, one, "ready", "") for one in ("alternatives", "draft")]
    works = moment(WaitsFor("asbuilt", why="Judge"), stages, of=run(kind="author"))
    accepted = [News(event("stage.judged", phase=one.id, number=1, outcome="accepted")) for one in stages]
    LineViewer(_screen(terminal)).show(
        [*accepted, News(event("run.parked", reason="answer", why="approval"))], works
    )
    assert re.sub(r"\d\d:\d\d:\d\d", "[TIME]", terminal.shown().decode()) == snapshot("""\
rate-limit.1
[TIME] alternatives ACCEPTED  the submission is valid
[TIME] draft        ACCEPTED  the submission is valid
[TIME] -            PARKED    for an answer
""")


def test_an_event_breaks_the_silence() -> None:
    terminal = Terminal(tty=False)
    viewer = LineViewer(_screen(terminal))
    proven = News(event("phase.proven", phase="2a", commit="0be77d1" * 5))
    for news, seconds in (([], 0), ([proven], 200), ([], 400)):
        viewer.show(news, WORKS._replace(now=_later(seconds)))
    assert re.sub(r"\d\d:\d\d:\d\d", "[TIME]", terminal.shown().decode()) == snapshot(
        """\
rate-limit.1
[TIME] 2a  PROVEN    0be77d1
"""
    )


def test_a_failure_breaks_at_spaces_and_is_drawn_in_full_only_once() -> None:
    terminal = Terminal(tty=False)
    viewer = LineViewer(_screen(terminal))
    line = "python3: can't open file '/run/asbuilt/checkout/greet.py': [Errno 2] No such file or directory"
    failed = Failure("check", "python3 greet.py", "a clean checkout", exit_code=2, lines=(line,))
    checked = event("checks.done", phase="2a", number=1, outcome="FAIL", failures=["python3 greet.py: FAIL"])
    for _ in range(2):
        viewer.show([News(checked, failures=(failed,))], WORKS)
    assert re.sub(r"(?m)^\d\d:\d\d:\d\d", "[TIME]", terminal.shown().decode()) == snapshot("""\
rate-limit.1
[TIME] 2a  FAIL      python3 greet.py: FAIL
  failed    check
  command   python3 greet.py
  where     a clean checkout
  result    exit 2
  | python3: can't open file '/run/asbuilt/checkout/greet.py': [Errno 2] No such
  | file or directory
[TIME] 2a  FAIL      python3 greet.py: FAIL
  result    exit 2
  printed   the same as before
""")


def test_lines_say_once_that_the_worker_is_gone_and_that_one_is_back() -> None:
    assert _lines((WORKS, 0), (CUT_OFF, 1), (CUT_OFF, 2), (LANDS, 3)) == snapshot("""\
[TIME] 2a  WORKER    not running; the run waits
[TIME] -   WORKER    running again
""")


def test_an_attempt_is_named_by_who_is_waited_for() -> None:
    verified = moment(WaitsFor("verifier", "2a", attempt="2v"), phases("verifying", attempt=2))
    assert [one.view.attempt for one in (WORKS, FIXES, verified, LANDS)] == snapshot(
        ["r1.2a.1", "r1.2a.2", "r1.2a.2v", None]
    )


def test_what_an_agent_does_is_read_from_where_it_was_last_read(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r1" / "attempts" / "r1.2a.1"
    folder.mkdir(parents=True)
    events = folder / "events.jsonl"
    listener = Listener(FolderAttempts(tmp_path))
    assert listener.activity(WORKS.view) == ("claude", "begins", None, 0)
    shown = []
    for line in (
        '{"kind": "called", "tool": "Edit", "detail": "store.py"}\n{"kind": "called", "tool": "Ba',
        'sh", "detail": "pytest"}\n',
        '{"kind": "said", "text": "halfway"}\n',
        '{"kind": "used", "input_tokens": 4}\n',
        '{"kind": "asked", "call": "edit", "path": "/etc", "allowed": false, "reason": "no"}\n',
        '{"kind": "noted", "text": "a retry"}\n{"kind": "called", "tool": 7}\nnot json\n',
    ):
        with events.open("a", encoding="utf-8") as file:
            file.write(line)
        activity = listener.activity(WORKS.view)
        assert activity is not None
        assert activity.last_activity_at is not None
        shown.append((activity.doing, activity.tool_calls))
    assert shown == snapshot(
        [
            ("Edit store.py", 1),
            ("Bash pytest", 2),
            ('says "halfway"', 2),
            ('says "halfway"', 2),
            ("asks to edit: refused", 2),
            ("a retry", 3),
        ]
    )
    assert listener.activity(LANDS.view) is None
