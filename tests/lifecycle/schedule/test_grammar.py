"""Cadences: what is read, what it means, and when it fires, held against an independent calculation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asbuilt.lifecycle.schedule.firing import deferred_until, is_deferral_shown, next_after
from asbuilt.lifecycle.schedule.grammar import (
    EVERY_DAY,
    EXAMPLES,
    WEEKDAYS,
    Cadence,
    Cron,
    DaysAt,
    Interval,
    Unreadable,
    meaning,
    moved,
    read,
    write,
)
from tests.lifecycle.oracle import at, slots, slots_between

ZONES = ("Europe/Prague", "America/New_York", "Australia/Lord_Howe")
"""An hour, an hour at another time of the year, and half an hour in the other half of the world."""
CHANGES = (
    "2027-03-28T01:00", "2027-10-31T01:00", "2027-03-14T07:00", "2027-11-07T06:00", "2027-04-03T15:00",
    "2027-10-02T15:30", "2028-02-29T00:00", "2027-12-31T23:58",
)  # fmt: skip
"""When the clocks of these zones change, a leap day begins, and a year ends."""
HOURS, MINUTES = st.integers(0, 23), st.integers(0, 59)
CADENCES = st.one_of(
    st.builds(Interval, st.integers(1, 3_000)),
    st.builds(DaysAt, st.just(EVERY_DAY), st.integers(0, 4), MINUTES),
    st.builds(DaysAt, st.just(EVERY_DAY), HOURS, MINUTES),
    st.builds(DaysAt, st.just(WEEKDAYS), HOURS, MINUTES),
    st.builds(
        DaysAt, st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days))), HOURS, MINUTES
    ),
    st.sampled_from(("15,45 2 * * *", "30 1,2,3 * * *", "0 0 29 2 *", "5 0 * * 0")).map(Cron),
)
COUNTING = st.sampled_from(("0 * * * *", "*/10 * * * *", "*/30 2 * * *", "30 */2 * * *")).map(Cron)
"""Minutes and hours as they pass. Not where half an hour is put back: there cronsim leaves one slot out."""
BEGINS = st.builds(
    lambda change, off_s: at(change) + timedelta(seconds=off_s),
    st.sampled_from(CHANGES),
    st.integers(-30 * 3_600, 6 * 3_600),
)


@settings(max_examples=settings().max_examples // 20)
@given(CADENCES, BEGINS, st.sampled_from(ZONES))
@example(DaysAt(EVERY_DAY, 2, 30), at("2027-03-27T12:00"), "Europe/Prague")
@example(DaysAt(EVERY_DAY, 2, 30), at("2027-10-31T01:10"), "Europe/Prague")
@example(DaysAt(EVERY_DAY, 1, 45), at("2027-04-03T14:50"), "Australia/Lord_Howe")
@example(Cron("15,45 2 * * *"), at("2027-03-27T12:00"), "Europe/Prague")
def test_slots_are_those_of_an_independent_calculation(cadence: Cadence, begin: datetime, zone: str) -> None:
    _compare(cadence, begin, zone)


@settings(max_examples=settings().max_examples // 40)
@given(COUNTING, BEGINS, st.sampled_from(ZONES[:2]))
def test_hours_and_minutes_are_counted_as_they_pass(cadence: Cadence, begin: datetime, zone: str) -> None:
    _compare(cadence, begin, zone)


def _compare(cadence: Cadence, begin: datetime, zone: str) -> None:
    clocks, anchor, last = ZoneInfo(zone), begin, begin + timedelta(days=2)
    expected = slots_between(cadence, begin, last, clocks, anchor=anchor)
    found = slots(cadence, begin, clocks, anchor=anchor)
    assert list(takewhile(lambda slot: slot <= last, found)) == expected


@settings(max_examples=settings().max_examples // 10)
@given(CADENCES | COUNTING, BEGINS, st.sampled_from(ZONES), st.integers(-600_000, 600_000))
def test_a_slot_lies_ahead_and_follows_from_its_anchor_alone(
    cadence: Cadence, anchor: datetime, zone: str, off_s: int
) -> None:
    after = anchor + timedelta(seconds=off_s)
    slot = next_after(cadence, after, ZoneInfo(zone), anchor=anchor)
    assert slot > after
    between = after + (slot - after) / 2
    assert next_after(cadence, between, ZoneInfo(zone), anchor=anchor) == slot


def test_the_first_fire_of_an_interval_is_a_full_one_away() -> None:
    now = at("2026-11-15T14:09:31")
    times = [slot.isoformat() for slot in islice(slots(Interval(240), now, UTC, anchor=now), 3)]
    assert times == ["2026-11-15T18:09:31+00:00", "2026-11-15T22:09:31+00:00", "2026-11-16T02:09:31+00:00"]


def test_a_time_that_is_left_out_fires_when_the_clocks_go_on_and_one_shown_twice_fires_once() -> None:
    prague = ZoneInfo("Europe/Prague")
    anchor = at("2027-01-01T00:00")
    spring = islice(slots(DaysAt(EVERY_DAY, 2, 30), at("2027-03-27T12:00"), prague, anchor=anchor), 3)
    autumn = islice(slots(DaysAt(EVERY_DAY, 2, 30), at("2027-10-30T12:00"), prague, anchor=anchor), 3)
    assert [f"{slot.astimezone(prague):%d %H:%M %Z}" for slot in spring] == [
        "28 03:00 CEST",
        "29 02:30 CEST",
        "30 02:30 CEST",
    ]
    assert [f"{slot.astimezone(prague):%d %H:%M %Z}" for slot in autumn] == [
        "31 02:30 CEST",
        "01 02:30 CET",
        "02 02:30 CET",
    ]


def test_a_leap_day_is_found_years_ahead() -> None:
    anchor = at("2026-11-15T00:00")
    times = islice(slots(Cron("0 9 29 2 *"), anchor, UTC, anchor=anchor), 3)
    assert [f"{slot:%Y-%m-%d}" for slot in times] == ["2028-02-29", "2032-02-29", "2036-02-29"]


@pytest.mark.parametrize(
    ("text", "cadence", "words"),
    [
        ("30m", Interval(30), "every 30 minutes"),
        ("60m", Interval(60), "every hour"),
        ("4h", Interval(240), "every 4 hours"),
        (" 12 H ", Interval(720), "every 12 hours"),
        ("1d", Interval(1_440), "every day"),
        ("day at 9am", DaysAt(EVERY_DAY, 9, 3), "every day at 09:03"),
        ("day at 12am", DaysAt(EVERY_DAY, 0, 3), "every day at 00:03"),
        ("day at 12:15 pm", DaysAt(EVERY_DAY, 12, 15), "every day at 12:15"),
        ("day at 14:00", DaysAt(EVERY_DAY, 14, 3), "every day at 14:03"),
        ("Weekday at 9AM", DaysAt(WEEKDAYS, 9, 3), "Monday to Friday at 09:03"),
        ("weekday at 22:00", DaysAt(WEEKDAYS, 22, 3), "Monday to Friday at 22:03"),
        ("thursday,monday at 18:30", DaysAt((0, 3), 18, 30), "Monday and Thursday at 18:30"),
        ("fri,thu,wed,tue,mon at 9:00", DaysAt(WEEKDAYS, 9, 3), "Monday to Friday at 09:03"),
        ("mon, wed fri at 7:05", DaysAt((0, 2, 4), 7, 5), "Monday, Wednesday and Friday at 07:05"),
        ("0 9 * * MON-FRI", Cron("0 9 * * MON-FRI"), "by cron 0 9 * * MON-FRI"),
    ],
)
def test_a_cadence_is_read_said_and_read_back(text: str, cadence: Cadence, words: str) -> None:
    found = read(text)
    assert not isinstance(found, Unreadable)
    assert (moved(found, 3), meaning(cadence), read(write(cadence))) == (cadence, words, cadence)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is no interval, no time of a day, and no cron expression of five fields"),
        ("sometimes", "it is no interval, no time of a day, and no cron expression of five fields"),
        ("0m", "an interval is at least 1m and at most 366d"),
        ("367d", "an interval is at least 1m and at most 366d"),
        ("day at 9", "there is no such time of day; write it as 9am, 9:30pm or 14:00"),
        ("day at 24:00", "there is no such time of day; write it as 9am, 9:30pm or 14:00"),
        ("day at 13pm", "there is no such time of day; write it as 9am, 9:30pm or 14:00"),
        ("moonday at 9am", "before `at`, write day, weekday, or names of days: monday,thursday"),
        ("0 9 31 2 *", "as a cron expression: bad day-of-month"),
        ("0 25 * * *", "as a cron expression: bad hour"),
        ("0 0 9 * * *", "it is no interval, no time of a day, and no cron expression of five fields"),
    ],
)
def test_what_is_no_cadence_is_refused_with_what_is_wrong(text: str, why: str) -> None:
    assert read(text) == Unreadable(why)


def test_every_example_is_a_cadence() -> None:
    assert [type(read(text)) for text in EXAMPLES] == [Interval, Interval, DaysAt, DaysAt, DaysAt, Cron]


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    cadence = read(text)
    assert isinstance(cadence, Unreadable) or read(write(cadence)) == cadence


def test_a_deferred_schedule_looks_again_after_1_10_30_and_60_minutes_and_is_heard_of_when_that_changes() -> (
    None
):
    now = "2026-11-15T14:00:00.000Z"
    minutes = {
        number: (datetime.fromisoformat(deferred_until(number, now)) - at("2026-11-15T14:00"))
        / timedelta(minutes=1)
        for number in range(1, 40)
    }
    assert minutes == {
        number: 1 if number < 10 else 10 if number < 16 else 30 if number < 26 else 60
        for number in range(1, 40)
    }
    assert [number for number in range(1, 100) if is_deferral_shown(number)] == [1, 10, 16, 26]
