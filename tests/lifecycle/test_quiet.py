from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.lifecycle.quiet import Hours, quiet_until
from asbuilt.settings.hours import hours_in

ZONES = ("UTC", "Europe/Prague", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
NIGHT = Hours(time(22), time(7))
CLOCKS = st.builds(time, st.integers(0, 23), st.integers(0, 59))
HOURS = st.builds(Hours, CLOCKS, CLOCKS).filter(lambda hours: hours.start != hours.end)
MINUTE = timedelta(minutes=1)


def _moments(zone: str) -> st.SearchStrategy[datetime]:
    """Give moments of a year, most of them near the nights in which the clocks are changed."""
    changes = {
        "Europe/Prague": (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)),
        "America/New_York": (datetime(2026, 3, 8, 7, tzinfo=UTC), datetime(2026, 11, 1, 6, tzinfo=UTC)),
        "Australia/Lord_Howe": (
            datetime(2026, 4, 4, 15, tzinfo=UTC),
            datetime(2026, 10, 3, 15, 30, tzinfo=UTC),
        ),
    }.get(zone, (datetime(2026, 1, 1, tzinfo=UTC),))
    near = st.builds(
        lambda at, minutes: at + timedelta(minutes=minutes),
        st.sampled_from(changes),
        st.integers(-1_500, 1_500),
    )
    return near | st.integers(0, 525_600).map(lambda n: datetime(2026, 1, 1, tzinfo=UTC) + n * MINUTE)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Hours, datetime, ZoneInfo]:
    zone = draw(st.sampled_from(ZONES))
    return draw(HOURS), draw(_moments(zone)), ZoneInfo(zone)


def _by_the_clock(hours: Hours, moment: datetime, zone: ZoneInfo) -> datetime | None:
    """Look at the clock on the wall minute by minute, until it shows a time that is not quiet."""
    start, end = (one.hour * 60 + one.minute for one in hours)
    at = moment
    while True:
        wall = at.astimezone(zone)
        shown = wall.hour * 60 + wall.minute
        if (shown - start) % 1440 >= (end - start) % 1440:
            return None if at == moment else at
        at += MINUTE


@given(cases())
def test_quiet_hours_end_when_the_clock_on_the_wall_says_so(case: tuple[Hours, datetime, ZoneInfo]) -> None:
    hours, moment, zone = case
    told, seen = quiet_until(hours, moment, zone), _by_the_clock(hours, moment, zone)
    if told is None or seen is None:
        assert told == seen
        return
    # The only end that the clock never shows lies in the hour it leaves out: then it comes as much later.
    is_left_out = seen.astimezone(zone).time() != hours.end
    assert told >= seen
    assert told - seen < timedelta(hours=1) if is_left_out else told == seen


@pytest.mark.parametrize(
    ("moment", "until"),
    [
        ("2026-11-14T23:30:00+01:00", "2026-11-15T07:00:00+01:00"),
        ("2026-11-15T06:59:00+01:00", "2026-11-15T07:00:00+01:00"),
        ("2026-11-15T07:00:00+01:00", None),
        ("2026-11-15T21:59:00+01:00", None),
        ("2026-03-28T23:00:00+01:00", "2026-03-29T07:00:00+02:00"),
        ("2026-10-24T23:00:00+02:00", "2026-10-25T07:00:00+01:00"),
    ],
)
def test_a_night_lasts_until_the_morning_of_its_own_zone(moment: str, until: str | None) -> None:
    told = quiet_until(NIGHT, datetime.fromisoformat(moment), ZoneInfo("Europe/Prague"))
    assert told == (None if until is None else datetime.fromisoformat(until))


def test_hours_are_read_as_people_write_them() -> None:
    assert [hours_in(text) for text in ("22:00-07:00", " 9:30 - 17:05 ")] == [
        (time(22), time(7)),
        (time(9, 30), time(17, 5)),
    ]
    wrong = ("", "22-7", "24:00-07:00", "22:00-22:00", "22:00", "22:00-07:60", "now", "٢2:00-07:00")
    assert [hours_in(text) for text in wrong] == [None] * len(wrong)
