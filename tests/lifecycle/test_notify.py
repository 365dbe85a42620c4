from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from asbuilt.events.kinds import KINDS
from asbuilt.lifecycle.notify import notice
from tests.support.happened import happened, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECRET = "sk-live-0000 and the agent says so"  # noqa: S105 - the word that must not get out
CHOSEN = ("approval.asked", "run.parked", "run.ended", "landing.refused", "attempt.ended", "phase.proven")


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_person_is_called_when_a_run_needs_one_parks_fails_or_lands() -> None:
    events: list[tuple[str, Mapping[str, object]]] = [
        ("approval.asked", {"number": 7, "key": "k", "question": SECRET}),
        ("run.parked", {"reason": "limit", "why": SECRET, "until": "2026-11-15T01:10:00Z"}),
        *(("run.ended", {"state": state, "reason": SECRET}) for state in ("failed", "landed", "held")),
    ]
    assert [tuple(notice("greet.1", one.event) or ()) for one in happened(events)] == snapshot(
        [
            ("asbuilt: greet.1 needs you", "Question a7 waits: asbuilt approve"),
            ("asbuilt: greet.1 is parked", "It resumes automatically at 01:10 UTC."),
            ("asbuilt: greet.1 failed", "All work is kept: asbuilt status"),
            ("asbuilt: greet.1 landed", "All proven commits are on the branch."),
            ("asbuilt: greet.1 is proven", "Nothing has landed: it waits for you."),
        ]
    )


def test_a_notice_names_the_repository() -> None:
    (failed,) = happened([("run.ended", {"state": "failed"})])
    named = notice("greet.1", failed.event, repository="shop")
    assert named is not None
    assert named.title == "asbuilt: greet.1 in shop failed"


def test_what_a_person_did_themselves_calls_nobody() -> None:
    events: list[tuple[str, Mapping[str, object]]] = [
        *(("run.ended", {"state": state}) for state in ("stopped", "undone", "done")),
        ("run.parked", {"reason": "answer", "why": "approval r1/between/2", "until": None}),
        ("phase.proven", {"phase": "1", "commit": "c"}),
    ]
    assert [notice("greet.1", one.event) for one in happened(events)] == [None] * 5


@given(st.sampled_from(CHOSEN), st.sampled_from(["failed", "landed", "held", "stopped"]), st.text())
def test_no_words_of_others_get_into_a_notice(kind: str, state: str, name: str) -> None:
    known = {"number": 1, "state": state, "until": "2026-11-15T01:10:00Z"}
    fields = msgspec.structs.fields(KINDS[kind])
    words = {one.encode_name: SECRET for one in fields if one.type in (str, str | None)}
    others = {one.encode_name: known[one.name] for one in fields if one.name in known}
    if kind == "run.parked":
        others["reason"] = "limit"
    said = notice(name, told(kind, **words | others))
    assert said is None or (SECRET not in "".join(said) and "".join(said).isprintable())
