"""What of a run's time is work: waiting never is, whatever it waits for and however late it is woken."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.events.options_json import read_options
from asbuilt.lifecycle.kinds import fold, next_move
from asbuilt.lifecycle.run.moves import Ask, Attempt
from asbuilt.lifecycle.run.retry_times import moment, written
from asbuilt.lifecycle.run.working_time import WorkTime
from tests.lifecycle.plan_run.test_next_move import NOW, RUN
from tests.lifecycle.run.test_stoppages import Told, stopped
from tests.lifecycle.test_pausing import BEGUN, KEPT
from tests.support.happened import happened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.events.event import Cause, Entry
    from asbuilt.lifecycle.run.moves import Move

HOUR = 3_600
STARTED: Told = ("run.started", {"run": RUN, "at": NOW, "base": "b"})


def _at(after_s: float) -> str:
    return written(moment(NOW) + timedelta(seconds=after_s))


class Day:
    """A day of a run, written event by event; what of it was work is counted beside."""

    def __init__(self, events: Sequence[Told] = (STARTED,)) -> None:
        self.now_s = 0
        self.worked_s = 0
        self.events = happened(events)

    def append(self, kind: str, **data: object) -> None:
        told = (kind, {**data, "run": RUN, "at": _at(self.now_s)})
        self.events += happened([told], first=len(self.events) + 1)

    def work(self, lasts_s: int) -> None:
        self.now_s += lasts_s
        self.worked_s += lasts_s

    def wait(self, lasts_s: int) -> None:
        self.now_s += lasts_s

    def park(self, lasts_s: int | None) -> None:
        """Park for so long, or until somebody says something; somebody may be called because of it."""
        self.append(
            "run.parked",
            reason="limit",
            why="x",
            until=None if lasts_s is None else _at(self.now_s + lasts_s),
        )
        self.append("attention.called", way="desktop", about="run.parked")

    def next_move(self, *, hours: float) -> Move:
        """Tell what a run does now that may work so long."""
        facts = fold(RUN, read_options({"auto": True, "caps": {"hours": hours}}), self.events)
        return next_move(facts, _at(self.now_s))


def _limit(day: Day, waits_s: int, works_s: int, late_s: int) -> None:
    """Meet a limit, and be taken up late: the worker was down."""
    day.park(waits_s)
    day.wait(waits_s + late_s)
    day.append("attempt.begun", phase="1", number=1, role="implement")
    day.work(works_s)
    day.append("attempt.ended", phase="1", number=1, ending="limited", starts=1)


def _verifier(day: Day, waits_s: int, works_s: int, _: int) -> None:
    """Let a verifier go on, of which only the end is written down."""
    day.park(waits_s)
    day.wait(waits_s)
    day.work(works_s)
    day.append("verifier.ended", phase="1", number=1, ending="limited", starts=1)


def _question(day: Day, waits_s: int, works_s: int, _: int) -> None:
    day.append("approval.asked", key="q", number=1)
    day.park(None)
    day.wait(waits_s)
    day.append("approval.put_off", number=1, by="ann")
    day.wait(waits_s)
    day.append("approval.answered", key="q", number=1, answer="yes")
    day.work(works_s)
    day.append("checks.done", phase="1", number=1, outcome="PASS")


def _draft(day: Day, waits_s: int, works_s: int, late_s: int) -> None:
    """Wait for a person who writes another text first, and then says yes to it."""
    day.park(None)
    day.wait(waits_s)
    day.append("draft.written", number=2, intent="i", digest="d", text="t", by="ann")
    day.append("approval.answered", key="q", number=1, answer="revised")
    day.append("approval.asked", key="r", number=2)
    day.wait(waits_s)
    day.append("approval.answered", key="r", number=2, answer="yes")
    day.append("plan.approved", intent="i", digest="d", text="t", by="ann")
    day.wait(late_s)
    day.append("phase.begun", phase="1")
    day.work(works_s)
    day.append("phase.proven", phase="1", commit="c")


def _pause(day: Day, waits_s: int, works_s: int, late_s: int) -> None:
    """Be paused in a wait, which is one wait with the pause."""
    day.park(waits_s)
    day.wait(late_s)
    day.append("run.pause_asked", reason="lunch")
    day.park(None)
    day.wait(waits_s)
    day.append("run.resume_asked")
    day.wait(late_s)
    day.append("attempt.begun", phase="1", number=1, role="implement")
    day.work(works_s)


def _window(day: Day, waits_s: int, works_s: int, late_s: int) -> None:
    """Sleep through the hours in which it may begin, and wait for those of the next night."""
    day.park(waits_s)
    day.wait(waits_s + late_s)
    day.park(waits_s)
    day.wait(waits_s)
    day.append("phase.begun", phase="1")
    day.work(works_s)


def _review(day: Day, waits_s: int, works_s: int, late_s: int) -> None:
    """Look at a pull request now and then, until there is something to do for it."""
    for _ in range(3):
        day.park(waits_s)
        day.wait(waits_s + late_s)
        day.append("pull.seen", state="open", asked_at=_at(day.now_s))
    day.work(works_s)


def _trouble(day: Day, waits_s: int, works_s: int, _: int) -> None:
    """Meet trouble, try again, and meet it again: what was tried is work."""
    for _ in range(2):
        day.append("trouble.met", what="the disk is full", retry_at=_at(day.now_s + waits_s))
        day.park(waits_s)
        day.wait(waits_s)
        day.work(works_s)
    day.append("tests.resolved", source="given")


KINDS = (_limit, _verifier, _question, _draft, _pause, _window, _review, _trouble)
spans_s = st.integers(0, 40 * HOUR)


@given(st.lists(st.tuples(st.sampled_from(KINDS), spans_s, spans_s, spans_s), max_size=6), st.data())
def test_work_always_counts_and_waiting_never_does(
    parts: list[tuple[Any, int, int, int]], data: st.DataObject
) -> None:
    day = Day()
    told: list[tuple[int, str, float]] = []
    for live, waits_s, works_s, late_s in parts:
        live(day, waits_s, works_s, late_s)
        told.append((len(day.events), _at(day.now_s), day.worked_s))
    seen = [_worked_s(day.events[:many], now) for many, now, _ in told]
    assert seen == [worked_s for _, _, worked_s in told]
    _is_steady(day.events, data.draw(st.integers(0, 40 * HOUR)))


def _worked_s(events: list[Entry], now: str) -> float:
    heard = WorkTime()
    for one in events:
        heard.fold(one)
    return heard.worked_s(now)


def _is_steady(events: list[Entry], later_s: int) -> None:
    """See that no event and no moment takes anything back, and that nobody works longer than time passes."""
    last = 0.0
    for many in range(1, len(events) + 1):
        at = events[many - 1].at
        later = written(moment(at) + timedelta(seconds=later_s))
        now, then = _worked_s(events[:many], at), _worked_s(events[:many], later)
        assert last <= now <= then <= now + later_s
        assert now <= (moment(at) - moment(NOW)).total_seconds()
        last = now


@pytest.mark.parametrize("is_back", [False, True])
def test_a_clock_that_is_set_never_makes_it_less_than_nothing(is_back: bool) -> None:  # noqa: FBT001
    day = Day()
    day.work(HOUR)
    day.park(HOUR)
    day.now_s = -HOUR if is_back else 900 * HOUR
    day.append("attempt.begun", phase="1", number=1, role="implement")
    assert _worked_s(day.events, _at(day.now_s)) == HOUR
    assert _worked_s(day.events, _at(day.now_s - HOUR)) == HOUR


def test_what_came_before_the_start_is_no_work() -> None:
    early: list[Told] = [("run.requested", {"run": RUN, "number": 1, "at": _at(-9 * HOUR)})]
    early += [
        ("run.parked", {"run": RUN, "reason": "limit", "why": "x", "until": _at(-HOUR), "at": _at(-8 * HOUR)})
    ]
    assert _worked_s(happened(early) + Day().events, _at(HOUR)) == HOUR


@pytest.mark.parametrize("cause", ["usage_limit", "auth"])
def test_ten_hours_of_waiting_take_nothing_of_the_hour_that_a_run_has(cause: Cause) -> None:
    resets_s = 10 * HOUR
    early = [(kind, {**data, "at": NOW}) for kind, data in BEGUN]
    turned_away = stopped(cause)
    day = Day(early)
    day.work(HOUR // 2)
    day.append(turned_away[0], **turned_away[1])
    if cause == "auth":
        day.append("approval.asked", key=f"{RUN}/auth/1/1/1", number=1)
    day.park(resets_s if cause == "usage_limit" else None)
    day.wait(resets_s)
    if cause == "auth":
        day.append("approval.answered", key=f"{RUN}/auth/1/1/1", number=1, answer="yes")
    assert day.next_move(hours=1) == Attempt("1", 1, "implement")
    day.append("attempt.begun", phase="1", number=1, role="implement")
    day.work(HOUR // 2)
    day.append(turned_away[0], **{**turned_away[1], "starts": 2, "ending": "stalled", "cause": None})
    day.append(KEPT[0], **KEPT[1])
    over = "continue? its limit of 1 hour of work is reached. Yes allows another 1 hour of work"
    assert day.next_move(hours=1) == Ask(f"{RUN}/cap/1", "cap", over)
    assert day.next_move(hours=2) == Attempt("1", 2, "implement")


def test_the_time_of_a_conversation_that_authors_a_plan_is_its_own() -> None:
    day = Day([])
    day.append("run.started", base="b", due="draft", phases={"draft": (), "critique-1": ()}, titles={})
    day.park(None)
    for number in (1, 2):
        day.wait(5 * HOUR)
        about = {"phase": "draft", "number": number}
        day.append("attempt.begun", **about, role="plan")
        day.append("attempt.ended", **about, ending="done", starts=1)
    day.wait(HOUR)
    day.append("attempt.begun", phase="critique-1", number=1, role="critique")
    day.work(HOUR)
    options = {
        "kind": "author",
        "authoring": {"mode": "staged", "prompt": "x", "session": {}, "in_conversation": True},
    }
    assert fold(RUN, read_options(options), day.events).time.worked_s(_at(day.now_s)) == HOUR
