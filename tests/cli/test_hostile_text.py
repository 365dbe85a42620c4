"""Text of others, whatever it is, neither breaks a line, nor steers a terminal, nor goes over the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.cli.runs import plan_state
from asbuilt.cli.runs.waiting import waiting
from asbuilt.cli.shell.options import Door
from asbuilt.cli.shell.read_context import Moment
from asbuilt.cli.ui.messages import answer
from asbuilt.cli.ui.screen import Pen, Screen
from asbuilt.cli.ui.symbols import ASCII
from asbuilt.cli.wording.events import event_line
from asbuilt.events.kinds import KINDS
from asbuilt.events.options_json import read_options
from asbuilt.journal.approvals import Approval
from asbuilt.journal.claims import Claim
from asbuilt.journal.ids import Address
from asbuilt.journal.queries.overview import PlanView, RunView
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.run.money import Spent
from asbuilt.lifecycle.status.run_state import PhaseProgress, State, Waiting, WaitsFor
from tests.cli.nights import NOW, clock
from tests.cli.screens import Terminal
from tests.support.happened import happened

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.events.event import Entry

pytestmark = pytest.mark.crash
HOSTILE = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=120),
    st.text("漢字ｗ\u0301\u200d🙂", min_size=1, max_size=120),
    st.sampled_from(
        [
            "\x1b[2J\x1b]0;owned\x07", "a" * 300, "\u202eevil", "\u0085\u2028", "`rm -rf /`", "\udcff/x",
            "%s{0}\\", "\t\r\n", "\x9b31m",
        ]
    ),
)  # fmt: skip
STATES: tuple[State, ...] = (
    "ready",
    "implementing",
    "fixing",
    "parked",
    "proven",
    "landed",
    "done",
    "failed",
)
WAITS: tuple[Waiting, ...] = ("agent", "verifier", "asbuilt", "limit", "nobody")


@st.composite
def plans(draw: st.DrawFn) -> PlanView:
    """Draw a plan whose every free text is somebody's worst."""
    slug = draw(st.sampled_from(["rate-limit", "a" * 200]))
    ended = draw(st.sampled_from([None, "failed", "landed", "held", "stopped"]))
    options = {"slug": slug, "branch": draw(HOSTILE), "agent": draw(HOSTILE)}
    at = clock("20:00:00")
    run = Run(
        "local",
        "repo",
        "r1",
        draw(HOSTILE),
        1,
        ended or "running",
        1,
        read_options(options),
        None,
        at,
        at if ended else None,
    )
    phases = [
        PhaseProgress(phase, draw(HOSTILE), draw(st.sampled_from(STATES)), at, "4f1c9a2" * 5, 1, 1, ("1",))
        for phase in ("1", draw(HOSTILE) or "2")
    ]
    waits = WaitsFor(draw(st.sampled_from(WAITS)), "1", at, clock("23:00:00"), draw(HOSTILE), attempt="1")
    asked = Approval(
        7, "key", run.plan, "r1", "1", "continue", draw(HOSTILE), None, "ann", at, None, None, None, None
    )
    view = RunView(run, f"{slug}.1", phases, waits, [asked] * draw(st.integers(0, 1)), Spent(1.5), None)
    claim = Claim(run.plan, draw(HOSTILE), 1, "hand", None, "laptop", at) if draw(st.booleans()) else None
    return PlanView(Address("local", "repo", run.plan), slug, at, claim, view, phases, Spent(1.5))


def _event(kind: str, text: str) -> Entry:
    """Make an event that says this text wherever it can; a kind that is not known says all of it."""
    said = {
        "phase": text, "says": text, "reason": text, "ending": "failed", "failures": [text], "why": text,
        "outcome": "FAIL", "branch": text, "new": text, "question": text, "number": 1, "command": text,
        "key": text, "source": text,
    }  # fmt: skip
    fields = KINDS[kind].__struct_encode_fields__ if kind in KINDS else tuple(said)
    data = {name: value for name, value in said.items() if name in fields}
    return happened([(kind, {"at": clock("20:00:00"), **data})], unknown=kind not in KINDS)[0]


EVENTS = st.builds(
    _event,
    st.sampled_from(
        ["attempt.ended", "checks.done", "approval.asked", "landing.done", "tests.resolved", "odd"]
    ),
    HOSTILE,
)


@given(view=plans(), event=EVENTS, columns=st.sampled_from([40, 57, 80]), is_served=st.booleans())
def test_no_text_of_others_breaks_a_screen(
    tmp_path_factory: pytest.TempPathFactory,
    view: PlanView,
    event: Entry,
    columns: int,
    *,
    is_served: bool,
) -> None:
    folder: Path = tmp_path_factory.getbasetemp()
    stream = Terminal(None)
    pen = Pen(stream=stream, styled=False, symbols=ASCII, utf8=True, width=columns)
    door = Door(screen=Screen(out=pen, err=pen), json=False, start=folder, environ={}, may_ask=False)
    moment = Moment(NOW, is_served, folder)
    plan_state.show_table(door.screen, [view], moment, title=view.address.plan)
    plan_state.show_plan(door, view, waiting(view, moment), moment)
    answer(door, "20:00:00  ", event_line(event).text)
    for line in stream.shown().split("\n"):
        assert _columns(line) <= columns or _is_command(line), line
        assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in line), ascii(line)
        assert not any(0x2028 <= ord(char) <= 0x202E or 0x2066 <= ord(char) <= 0x2069 for char in line)


def _columns(line: str) -> int:
    """Count columns without the product's own way to do it."""
    shown = [
        char for char in line if not combining(char) and char not in "\u200b\u200c\u200d\u2060\ufe0e\ufe0f"
    ]
    return len(shown) + sum(east_asian_width(char) in "WF" for char in shown)


def _is_command(line: str) -> bool:
    return line.strip().removeprefix("Next: ").removeprefix("or  ").startswith("asbuilt ")
