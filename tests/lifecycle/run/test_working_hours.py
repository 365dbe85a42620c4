"""Hours of a day against a clock that is looked at every minute, in nights when it is changed, too."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.run.retry_times import moment, written
from asbuilt.lifecycle.run.working_hours import Window
from asbuilt.settings.hours import hours_in

CHANGES = {
    "UTC": ("2026-01-01T00:00Z",),
    "Europe/Prague": ("2026-03-29T01:00Z", "2026-10-25T01:00Z"),
    "America/New_York": ("2026-03-08T07:00Z", "2026-11-01T06:00Z"),
    "Australia/Lord_Howe": ("2026-04-04T15:00Z", "2026-10-03T15:30Z"),
}
"""Zones, and when their clocks are changed; that of Lord Howe by half an hour."""
MINUTE = timedelta(minutes=1)
CLOCKS = st.builds(time, st.integers(0, 23), st.integers(0, 59))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Window, datetime]:
    """Give hours and a moment, most of them near a change of the clock."""
    zone = draw(st.sampled_from(sorted(CHANGES)))
    window = Window(draw(CLOCKS), draw(CLOCKS), zone)
    if window.opens == window.closes:
        window = window._replace(closes=time(window.opens.hour, (window.opens.minute + 1) % 60))
    near = st.sampled_from(CHANGES[zone]).map(datetime.fromisoformat)
    at = draw(near | st.integers(0, 365).map(lambda day: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(day)))
    return window, at + draw(st.integers(-1_500, 1_500)) * MINUTE


def _seen_to_close(window: Window, at: datetime) -> datetime | None:
    """Look at the clock minute by minute, until it shows a time that is not in the hours."""
    zone, first = ZoneInfo(window.zone), at
    opens, closes = (one.hour * 60 + one.minute for one in window[:2])
    while True:
        wall = at.astimezone(zone)
        if (wall.hour * 60 + wall.minute - opens) % 1440 >= (closes - opens) % 1440:
            return None if at == first else at
        at += MINUTE


@given(cases())
def test_hours_close_when_the_clock_on_the_wall_says_so(case: tuple[Window, datetime]) -> None:
    window, at = case
    told, seen = window.closes_at(written(at)), _seen_to_close(window, at)
    if told is None or seen is None:
        assert told == seen
        return
    # The only end that the clock never shows lies in the time it leaves out: then it comes as much later.
    is_left_out = seen.astimezone(ZoneInfo(window.zone)).time() != window.closes
    assert moment(told) >= seen
    assert moment(told) - seen < timedelta(hours=1) if is_left_out else moment(told) == seen


@given(cases())
def test_hours_are_open_or_closed_and_never_both(case: tuple[Window, datetime]) -> None:
    window, at = case
    assert (window.opens_at(written(at)) is None) != (window.closes_at(written(at)) is None)


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-11-14T23:30+01:00", "2026-11-15T07:00+01:00"),
        ("2026-11-15T06:59+01:00", "2026-11-15T07:00+01:00"),
        ("2026-11-15T07:00+01:00", None),
        ("2026-11-15T21:59+01:00", None),
        ("2026-03-28T23:00+01:00", "2026-03-29T07:00+02:00"),
        ("2026-10-24T23:00+02:00", "2026-10-25T07:00+01:00"),
    ],
)
def test_a_night_lasts_until_the_morning_of_its_own_zone(now: str, until: str | None) -> None:
    told = Window(time(22), time(7), "Europe/Prague").closes_at(now)
    assert (told and moment(told)) == (until and datetime.fromisoformat(until))


@pytest.mark.parametrize(
    "now", ["2026-10-23T22:00+02:00", "2026-10-24T06:00+02:00", "2026-10-24T12:00+02:00"]
)
def test_the_next_three_openings_are_those_of_its_own_zone_whether_it_is_open_or_not(now: str) -> None:
    assert [time.isoformat() for time in Window(time(22), time(7), "Europe/Prague").next_times(now)] == [
        "2026-10-24T22:00:00+02:00",
        "2026-10-25T22:00:00+01:00",
        "2026-10-26T22:00:00+01:00",
    ]


def test_hours_are_read_as_people_write_them() -> None:
    assert [hours_in(text) for text in ("22:00-07:00", " 9:30 - 17:05 ")] == [
        (time(22), time(7)),
        (time(9, 30), time(17, 5)),
    ]
    wrong = ("", "22-7", "24:00-07:00", "22:00-22:00", "22:00", "22:00-07:60", "now", "٢2:00-07:00")
    assert [hours_in(text) for text in wrong] == [None] * len(wrong)
