from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.lifecycle.attention import notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECRET = "sk-live-0000 and the agent says so"  # noqa: S105 - the word that must not get out
KINDS = ("approval.asked", "run.parked", "run.ended", "landing.refused", "attempt.ended", "phase.proven")


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_person_is_called_when_a_run_needs_one_parks_fails_or_lands() -> None:
    events: list[tuple[str, Mapping[str, object]]] = [
        ("approval.asked", {"number": 7, "question": SECRET}),
        ("run.parked", {"why": SECRET, "until": "2026-11-15T01:10:00Z"}),
        *(("run.ended", {"state": state, "reason": SECRET}) for state in ("failed", "landed", "held")),
    ]
    assert [tuple(notice("greet.1", *event) or ()) for event in events] == snapshot(
        [
            ("asbuilt: greet.1 needs you", "Question a7 waits: asbuilt approve"),
            ("asbuilt: greet.1 is parked", "It goes on by itself at 01:10 UTC."),
            ("asbuilt: greet.1 failed", "All work is kept: asbuilt status"),
            ("asbuilt: greet.1 landed", "All that was proven is on its branch."),
            ("asbuilt: greet.1 is proven", "Nothing has landed: it waits for you."),
        ]
    )


def test_what_a_person_did_themselves_calls_nobody() -> None:
    events: list[tuple[str, Mapping[str, object]]] = [
        *(("run.ended", {"state": state}) for state in ("stopped", "undone", "done")),
        ("run.parked", {"why": "approval r1/between/2", "until": None}),
        ("phase.proven", {}),
    ]
    assert [notice("greet.1", *event) for event in events] == [None] * 5


@given(st.sampled_from(KINDS), st.sampled_from(["failed", "landed", "held", "stopped"]), st.text())
def test_no_words_of_others_get_into_a_notice(kind: str, state: str, name: str) -> None:
    data = {
        "number": 1, "question": SECRET, "why": SECRET, "reason": SECRET, "says": SECRET, "note": SECRET,
        "state": state, "until": "2026-11-15T01:10:00Z",
    }  # fmt: skip
    said = notice(name, kind, data)
    assert said is None or (SECRET not in "".join(said) and "".join(said).isprintable())
