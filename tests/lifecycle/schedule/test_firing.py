"""What becomes of a schedule that somebody looks at, and the hours of a run."""

from __future__ import annotations

import pytest

from asbuilt.events.options_json import read_options
from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle.run.moves import Attempt, Begin, Start, Wait
from asbuilt.lifecycle.run.working_hours import Window, read, window_in, within
from asbuilt.lifecycle.schedule.firing import Answer, Defer, Due, Fire, Pass, Rest, Setting, answer, ends_with

EVERY_4H = Setting("4h", "UTC", "2026-11-15T08:00:00.000Z")
AT_12, AT_16, AT_20 = (f"2026-11-15T{hour}:00:00.000Z" for hour in (12, 16, 20))
DUE = Due(
    EVERY_4H, slot=AT_12, due_at=AT_12, set_at="2026-11-15T08:00:00.000Z", has_fired=False, busy=None,
    phase=None, deferrals=0,
)  # fmt: skip


def _at(clock: str) -> str:
    return f"2026-11-15T{clock}:00.000Z"


@pytest.mark.parametrize(
    ("due", "now", "expected"),
    [
        (DUE, _at("11:59"), Rest()),
        (DUE, AT_12, Fire(AT_16)),
        (DUE, _at("19:00"), Fire(AT_20)),
        (DUE._replace(has_fired=True), _at("12:01"), Pass(AT_16)),
        (DUE._replace(busy="2a"), AT_12, Defer("2a", 1, _at("12:01"))),
        (
            DUE._replace(busy="2a", phase="2a", deferrals=1, due_at=_at("12:01"), set_at=AT_12),
            _at("12:01"),
            Defer("2a", 2, _at("12:02")),
        ),
        (
            DUE._replace(busy="2b", phase="2a", deferrals=30),
            _at("15:00"),
            Defer("2b", 1, _at("15:01")),
        ),
        (DUE._replace(slot=AT_20, due_at=AT_20, set_at=_at("17:00")), _at("13:30"), Pass(AT_16)),
        (
            DUE._replace(busy="2a", phase="2a", deferrals=25, due_at=AT_16, set_at=_at("15:30")),
            _at("12:30"),
            Defer("2a", 26, _at("13:30")),
        ),
    ],
    ids=[
        "before its time", "due", "two missed become one", "fired before the clock was put back",
        "a run has it",
        "the same phase still has it", "another phase counts anew", "the clock was put back",
        "the clock was put back while it was deferred",
    ],
)  # fmt: skip
def test_what_becomes_of_a_schedule(due: Due, now: str, expected: Answer) -> None:
    assert answer(due, now) == expected


def test_a_schedule_ends_with_what_would_only_come_again() -> None:
    states = ("failed", "stopped", "pr-ci-failing", "landed", "held", "done")
    assert [ends_with(state, is_complete=False) for state in states] == [
        "its run failed", "its run was stopped", "the checks of its pull request fail", None, None, None,
    ]  # fmt: skip
    assert ends_with("landed", is_complete=True) == "the plan is complete"


@pytest.mark.parametrize(
    ("hours", "now", "opens"),
    [
        ("22:00-07:00", "2026-11-15T20:59:59.000Z", "2026-11-15T21:00:00.000Z"),
        ("22:00-07:00", "2026-11-15T21:00:00.000Z", None),
        ("22:00-07:00", "2026-11-16T05:59:59.000Z", None),
        ("22:00-07:00", "2026-11-16T06:00:00.000Z", "2026-11-16T21:00:00.000Z"),
        ("9:00-17:00", "2026-11-15T20:00:00.000Z", "2026-11-16T08:00:00.000Z"),
        ("9:00-17:00", "2026-11-15T12:00:00.000Z", None),
        ("02:30-04:00", "2027-03-28T00:00:00.000Z", "2027-03-28T01:30:00.000Z"),
        ("02:30-02:45", "2027-10-31T01:10:00.000Z", "2027-10-31T01:30:00.000Z"),
    ],
)
def test_a_window_says_when_it_opens(hours: str, now: str, opens: str | None) -> None:
    window = read(hours, "Europe/Prague")
    assert window
    assert window.opens_at(now) == opens


@pytest.mark.parametrize(
    ("cadence", "hours", "begins"),
    [
        ("4h", "22:00-07:00", ["15T22:00", "16T00:00", "16T04:00"]),
        ("4h", "13:00-14:00", ["16T13:00", "17T13:00", "18T13:00"]),
        ("day at 09:00", "22:00-07:00", ["16T22:00", "17T22:00", "18T22:00"]),
        ("day at 23:00", "22:00-07:00", ["15T23:00", "16T23:00", "17T23:00"]),
    ],
)
def test_a_schedule_with_hours_names_the_times_at_which_phases_begin(
    cadence: str, hours: str, begins: list[str]
) -> None:
    times = Setting(cadence, "UTC", AT_12).next_times(AT_12, read(hours, "UTC"))
    assert [f"{time:%dT%H:%M}" for time in times] == begins


def test_only_what_is_not_begun_waits_for_the_window() -> None:
    window = window_in(read_options({"between": {"hours": "22:00-07:00", "zone": "UTC"}}).between)
    assert isinstance(window, Window)
    waits = Wait(WaitReason.WINDOW, "phases start only 22:00-07:00", "2026-11-15T22:00:00.000Z")
    going_on = Attempt("2a", 2, "fix", ())
    moves = (Start(), Begin("2b"), going_on)
    assert [within(window, move, AT_12) for move in moves] == [waits, waits, going_on]
    assert [within(None, move, AT_12) for move in moves] == list(moves)


@pytest.mark.parametrize("text", ["", "22:00", "24:00-07:00", "7-22", "22:00-22:00", "22:60-07:00"])
def test_what_is_no_window_is_none(text: str) -> None:
    assert read(text, "UTC") is None
