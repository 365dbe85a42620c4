"""Events as a journal holds them: what is written is read back, whoever has written it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType, structs

from asbuilt.errors import JournalDamaged
from asbuilt.events.attempts import Judged, TogetherJudged
from asbuilt.events.event import Entry, Failure, Unknown
from asbuilt.events.kinds import KINDS
from asbuilt.events.landings import LandingDone, LandingTidied
from asbuilt.events.phases import BaselineDone, PhaseProven
from asbuilt.events.runs import RunEnded, TroubleMet
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.encoding.codec import Row, entry, event_of, fields_of, kind_of, whole
from asbuilt.journal.events import append, open_plan, whole_history
from asbuilt.journal.ids import LOCAL, Address
from tests.journal.conftest import open_store

if TYPE_CHECKING:
    from asbuilt.events.event import Event

_ROW = Row(1, "k", "2026-01-01T00:00:00.000Z", "asbuilt")
_OLDER = Path(__file__).parent / "older" / "first.jsonl"
st.register_type_strategy(UnsetType, st.just(UNSET))
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))


def drawn(known: type[Event]) -> st.SearchStrategy[Event]:
    """Draw an event of a kind."""
    hints = get_type_hints(known)
    values = {one.name: _of(hints[one.name]) for one in structs.fields(known)}
    return st.fixed_dictionaries(values).map(lambda fields: known(**fields))


def _of(hint: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type
    plain = st.none() | st.text(max_size=5) | st.integers()
    return plain if hint is Any else st.from_type(hint)


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=15)
@given(data=st.data())
def test_every_event_is_read_as_it_was_written(kind: str, data: st.DataObject) -> None:
    event = data.draw(drawn(KINDS[kind]))
    body = json.loads(json.dumps(fields_of(event, run="r")))
    found = entry(_ROW, *kind_of(event), body)
    assert (found.event, found.run, found.more) == (event, "r", {})


def test_what_this_version_does_not_know_is_kept() -> None:
    later = {"run": "r", "phase": "1", "commit": "c", "colour": "green"}
    assert entry(_ROW, "phase.proven", 1, later).more == {"colour": "green"}
    assert event_of("phase.proven", 9, later) == Unknown(name="phase.proven", number=9, data=later)
    strange = entry(_ROW, "moon.risen", 3, {"run": "r", "at": "night"})
    assert (strange.kind, kind_of(strange.event)) == ("moon.risen", ("moon.risen", 3))
    assert fields_of(strange.event) == {"run": "r", "at": "night"}


def test_an_event_without_what_it_needs_is_damage() -> None:
    with pytest.raises(JournalDamaged, match=r"phase\.proven"):
        event_of("phase.proven", 1, {"phase": "1"})


def test_a_baseline_that_passed_with_failures_is_read_as_one_that_failed() -> None:
    told = {"outcome": "PASS", "ran": 5, "failed": 2}
    assert event_of("baseline.done", 1, told) == BaselineDone(outcome="FAIL", ran=5, failed=2)
    assert event_of("baseline.done", 2, told) == BaselineDone(outcome="PASS", ran=5, failed=2)


def test_what_was_too_long_for_an_event_is_filled_in_from_its_blob() -> None:
    found = entry(_ROW, "landing.done", 1, {"run": "r", "new": "n", "details": "sha256:x"})
    commits = [["1", "r", "c", "s"]]
    load = {"sha256:x": json.dumps({"commits": commits, "marks": True}).encode()}.__getitem__
    filled = LandingDone(new="n", details="sha256:x", commits=(("1", "r", "c", "s"),), marks=True)
    assert whole(found, load).event == filled


def test_what_an_event_says_itself_counts_more_than_what_its_blob_says() -> None:
    """What takes a landing back names its commits in the blob by a word that the event has for itself."""
    told = {"run": "r", "new": "n", "reverts": True, "details": "sha256:x"}
    load = {"sha256:x": json.dumps({"marks": True, "reverts": [["a", "A"]]}).encode()}.__getitem__
    found = entry(_ROW, "landing.done", 1, told)
    assert whole(found, load).event == LandingDone(new="n", details="sha256:x", reverts=True, marks=True)


def test_journals_of_earlier_versions_are_read_without_loss() -> None:
    """`older/first.jsonl` has every form of an event that versions before typed events have written."""
    for line in _OLDER.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found = entry(_ROW, row["kind"], row["v"], row["data"])
        assert not isinstance(found.event, Unknown), row
        assert found.more == {}, row
        again = fields_of(found.event, run=found.run)
        left_out = {name: value for name, value in row["data"].items() if name not in again}
        assert not any(left_out.values()), (row, left_out)
        assert _as_written_then(found.event, again, row["data"]) == {
            name: value for name, value in row["data"].items() if name in again
        }


def _as_written_then(event: Event, again: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that an older version wrote, in its words where it had words for several fields."""
    plain = {name: _plain(again[name]) for name in then if name in again}
    if isinstance(event, Judged) and "failures" in plain:
        plain["failures"] = [str(failure) for failure in event.failures]
    if isinstance(event, RunEnded | TroubleMet):
        plain |= {name: event.words for name in ("reason", "what") if name in plain}
    return plain


@pytest.mark.parametrize(
    ("kind", "version"), [("run.stop_asked", 1), ("run.pause_asked", 1), ("run.ended", 1), ("run.ended", 2)]
)
def test_the_words_of_older_versions_for_no_reason_are_read_as_none(kind: str, version: int) -> None:
    for words, reason in (("asked for", ""), ("asked for it", "asked for it")):
        then = {"reason": words, **({"state": "stopped"} if kind == "run.ended" else {})}
        assert fields_of(event_of(kind, version, then), run=None).get("reason", "") == reason


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("item 12, a: b: FAIL, c\nd", Failure("a: b: FAIL, c\nd", 12)),
        ("the verdict: there is none", Failure("there is none", is_fault=True)),
        ("something else", Failure("something else")),
    ],
)
def test_failures_in_words_are_read_with_their_item(text: str, failure: Failure) -> None:
    then = {"outcome": "FAIL", "failures": [text]}
    found = event_of("together.judged", 1, then)
    assert found == TogetherJudged(outcome="FAIL", failures=(failure,))
    assert str(failure) == text


def _plain(value: object) -> object:
    return json.loads(json.dumps(value))


def test_lists_that_are_too_long_are_cut_and_break_nothing(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "journal.db"))
    store.migrate(STEPS)
    address = Address(LOCAL, "repo", "plan.md")
    many = tuple(f"workspaces/{number}/{'x' * 90}" for number in range(200))
    with store.write() as session:
        open_plan(session, address, "plan")
        append(session, address, LandingTidied(kept=many), key="k", actor="asbuilt", run="r")
    with store.read() as session:
        (found,) = whole_history(session, address)
    assert isinstance(found.event, LandingTidied)
    assert 0 < len(found.event.kept) < len(many)
    assert all(one.startswith("workspaces/") for one in found.event.kept)
    store.close()


def test_a_plan_that_lost_its_head_row_goes_on_counting(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "journal.db"))
    store.migrate(STEPS)
    address = Address(LOCAL, "repo", "plans/rate-limit.md")
    with store.write() as session:
        open_plan(session, address, "rate-limit")
        for number in range(3):
            append(session, address, _proven(number), key=f"k{number}", actor="asbuilt", run="r")
        session.run("DELETE FROM heads")
    with store.write() as session:
        append(session, address, _proven(3), key="k3", actor="asbuilt", run="r")
    with store.read() as session:
        assert [one.seq for one in whole_history(session, address)] == [1, 2, 3, 4]
        (head,) = session.rows("SELECT slug, seq FROM heads")
    assert head == {"slug": "rate-limit", "seq": 4}
    store.close()


def _proven(number: int) -> PhaseProven:
    return PhaseProven(phase=str(number), commit="c")


def test_an_entry_names_its_kind() -> None:
    found = Entry(seq=1, key="k", at="", actor="asbuilt", event=_proven(1))
    assert found.kind == "phase.proven"
