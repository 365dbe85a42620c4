"""Words in events: they are cut to what an event holds, and come back as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asbuilt.events.event import Unknown
from asbuilt.events.plans import PlanNoted
from asbuilt.journal.events import MAX_BODY, append, body_size, history, open_plan, shortened
from tests.journal.conftest import PLAN

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store

TOO_LONG = Unknown(name="toy", number=1, data=dict.fromkeys("abcd", "x" * MAX_BODY))
"""Words are cut, and these are too many."""


def test_an_event_over_the_limit_is_our_bug(store: Store) -> None:
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
    with pytest.raises(ValueError, match="bytes are allowed"), store.write() as session:
        append(session, PLAN, TOO_LONG, key="r/1", actor="asbuilt")


def test_words_that_are_too_long_for_an_event_are_cut_and_the_rest_is_kept(store: Store) -> None:
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        kept = append(session, PLAN, PlanNoted(note="x" * MAX_BODY, by="ann"), key="k", actor="ann")
        assert history(session, PLAN) == [kept]
    assert kept.event == PlanNoted(note=shortened("x" * MAX_BODY, 700), by="ann")


@given(st.text(st.characters(), max_size=3_000), st.integers(min_value=8, max_value=1_000))
def test_words_are_cut_to_the_bytes_that_they_may_take_and_kept_where_they_fit(text: str, size: int) -> None:
    cut = shortened(text, size)
    assert body_size(cut) <= size
    assert cut == text or (cut == "" or text.startswith(cut.removesuffix("…")))
    assert (cut == text) == (body_size(text) <= size)


@pytest.mark.parametrize("text", ["\udcff", "\x00", "\ud800ü→", '"\\n'])
def test_words_that_no_encoding_takes_come_back_as_they_were(store: Store, text: str) -> None:
    with store.write() as session:
        open_plan(session, PLAN, "rate-limit")
        append(session, PLAN, PlanNoted(note=text), key="k", actor="you")
    with store.read() as session:
        assert history(session, PLAN)[-1].event == PlanNoted(note=text)
